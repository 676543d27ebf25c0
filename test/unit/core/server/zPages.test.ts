import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  flagzObject,
  flagzText,
  pageForm,
  pageHeaders,
  statuszObject,
  statuszText,
} from "../../../../src/core/server/zPages.ts";

const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n";
const STATUS = {
  startedAt: epochMs(Date.parse("2026-11-02T03:04:05Z")),
  now: epochMs(Date.parse("2026-11-03T04:05:07.9Z")),
  platform: "node v24",
  version: "1.36.2",
  paths: ["/configz", "/healthz"],
};

describe("pages", () => {
  it.each([
    [undefined, "text"],
    ["", "text"],
    ["*/*", "text"],
    ["text/plain;charset=utf-8", "text"],
    ["text/html, text/plain;q=0.5", "text"],
    ["application/json;v=v1beta1;g=config.k8s.io;as=Statusz", { format: "json", version: "v1beta1" }],
    ["application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz", { format: "yaml", version: "v1beta1" }],
    ["application/json; as=Statusz; v=v1alpha1; g=config.k8s.io", { format: "json", version: "v1alpha1" }],
    ["application/json;v=v1beta1;g=config.k8s.io;as=Flagz", "none"],
    ["application/json;v=v2;g=config.k8s.io;as=Statusz", "none"],
    ["application/json", "none"],
    ["image/png", "none"],
  ])("Accept %j: %s", (accept, form) => {
    expect(pageForm(accept, "Statusz")).toEqual(form);
  });

  it("contain their type, and a deprecation warning for the older version", () => {
    expect([
      pageHeaders({ format: "yaml", version: "v1beta1" }, "Statusz"),
      pageHeaders({ format: "json", version: "v1alpha1" }, "Flagz"),
    ]).toEqual([
      { "content-type": "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz" },
      {
        "content-type": "application/json;g=config.k8s.io;v=v1alpha1;as=Flagz",
        warning: '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
      },
    ]);
  });

  it("list the flags", () => {
    const flags = new Map([
      ["v", "2"],
      ["address", "0.0.0.0"],
    ]);
    expect(flagzText(flags)).toBe(`\nkubelet flagz\n${WARNING}address=0.0.0.0\nv=2\n`);
    expect(flagzObject(flags, "v1beta1")).toEqual({
      kind: "Flagz",
      apiVersion: "config.k8s.io/v1beta1",
      metadata: { name: "kubelet" },
      flags: { address: "0.0.0.0", v: "2" },
    });
  });

  it("show no negative uptime after the clock was set back", () => {
    const { startedAt } = STATUS;
    const uptimeAt = (ms: number) => /Up: *(.*)/i.exec(statuszText({ ...STATUS, now: epochMs(startedAt + ms) }))?.[1];
    expect([-5000, 0, 999, 1000, 59_999, 3_600_000].map(uptimeAt)).toEqual([
      "0 hr 00 min 00 sec",
      "0 hr 00 min 00 sec",
      "0 hr 00 min 00 sec",
      "0 hr 00 min 01 sec",
      "0 hr 00 min 59 sec",
      "1 hr 00 min 00 sec",
    ]);
  });

  it("describe the process", () => {
    expect(statuszText(STATUS)).toBe(
      `\nkubelet statusz\n${WARNING}\nStarted: Mon Nov  2 03:04:05 UTC 2026\nUp: 25 hr 01 min 02 sec\nGo version: node v24\nBinary version: 1.36.2\nEmulation version: 1.36\nPaths: /configz /healthz\n`,
    );
    expect(statuszObject(STATUS, "v1alpha1")).toEqual({
      kind: "Statusz",
      apiVersion: "config.k8s.io/v1alpha1",
      metadata: { name: "kubelet" },
      startTime: "2026-11-02T03:04:05Z",
      uptimeSeconds: 90_062,
      goVersion: "node v24",
      binaryVersion: "1.36.2",
      emulationVersion: "1.36",
      paths: ["/configz", "/healthz"],
    });
  });
});
