import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  decodeImageRecords,
  detectImages,
  encodeImageRecords,
  type ImageRecords,
} from "../../../../src/core/image/imageRecords.ts";

const at = epochMs;
const record = (detectedAt: number, usedAt: number | undefined, wasThere: boolean) => ({
  detectedAt: at(detectedAt),
  usedAt: usedAt === undefined ? undefined : at(usedAt),
  wasThere,
});

describe("records of images", () => {
  const known: ImageRecords = new Map([
    ["used before", record(1, 2, true)],
    ["gone", record(1, 3, false)],
  ]);
  const images = [{ id: "used before" }, { id: "new" }];

  it.each<[string, ImageRecords | undefined, string, ImageRecords]>([
    [
      "keep what is known, and forget images that are gone",
      known,
      "none",
      new Map([
        ["used before", record(1, 2, true)],
        ["new", record(9, undefined, false)],
      ]),
    ],
    [
      "note the use",
      known,
      "used before",
      new Map([
        ["used before", record(1, 9, true)],
        ["new", record(9, undefined, false)],
      ]),
    ],
    [
      "take the images of the first listing for older ones",
      undefined,
      "new",
      new Map([
        ["used before", record(9, undefined, true)],
        ["new", record(9, 9, true)],
      ]),
    ],
    [
      "move times in the future to the present, after the clock was set back",
      new Map([["used before", record(70, 80, false)]]),
      "none",
      new Map([
        ["used before", record(9, 9, false)],
        ["new", record(9, undefined, false)],
      ]),
    ],
  ])("%s", (_what, before, used, expected) => {
    expect(detectImages(before, images, ({ id }) => id === used, at(9))).toEqual(expected);
  });

  it("are read as they were written", () => {
    expect(decodeImageRecords(encodeImageRecords(known))).toEqual(known);
  });

  it.each([
    "",
    "{",
    "[]",
    "{}",
    '{"images":[]}',
    '{"images":{"a":1}}',
    '{"images":{"a":{"detectedAt":"1","wasThere":true}}}',
    '{"images":{"a":{"detectedAt":1}}}',
    '{"images":{"a":{"detectedAt":1,"wasThere":true,"usedAt":"1"}}}',
  ])("are refused as damaged: %s", (text) => {
    expect(decodeImageRecords(text)).toBeUndefined();
  });
});
