import { describe, expect, it } from "vitest";
import { parseVolData } from "../../../../src/core/csi/volData.ts";

describe("vol_data.json", () => {
  it.each([
    [
      "of upstream, without a mode",
      '{"attachmentID":"csi-1","driverName":"d","nodeName":"n","specVolID":"pv","volumeHandle":"h"}\n',
      { driver: "d", handle: "h", isPersistent: true },
    ],
    [
      "of a persistent volume",
      '{"driverName":"d","volumeHandle":"h","volumeLifecycleMode":"Persistent"}',
      { driver: "d", handle: "h", isPersistent: true },
    ],
    [
      "of a volume of the pod itself",
      '{"driverName":"d","volumeHandle":"h","volumeLifecycleMode":"Ephemeral"}',
      { driver: "d", handle: "h", isPersistent: false },
    ],
  ])("%s", (_title, content, value) => {
    expect(parseVolData(content, "/f")).toEqual({ ok: true, value });
  });

  it.each([
    ["empty", ""],
    ["cut off by a crash", '{"driverName":"d","volumeHa'],
    ["of no object", "null"],
    ["without a handle", '{"driverName":"d"}'],
    ["with an empty handle", '{"driverName":"d","volumeHandle":""}'],
    ["with an empty driver", '{"driverName":"","volumeHandle":"h"}'],
    ["with a driver of another type", '{"driverName":7,"volumeHandle":"h"}'],
  ])("is refused when it is %s", (_title, content) => {
    expect(parseVolData(content, "/f")).toMatchObject({
      ok: false,
      error: { message: "kubernetes.io/csi: failed to parse volume data file [/f]: no driver and volume in it" },
    });
  });
});
