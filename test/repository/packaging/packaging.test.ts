import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentErrors, readConfigDocument } from "../../../src/cli/configDocument.ts";

const packaged = (name: string): string => readFileSync(new URL(`../../../packaging/${name}`, import.meta.url), "utf8");

describe("packaging", () => {
  it("has a configuration without faults", () => {
    expect(documentErrors(readConfigDocument("config.yaml", packaged("config.yaml"), "whole"))).toEqual([]);
  });

  it("has a CNI network list with a bridge and port mapping", () => {
    const list = JSON.parse(packaged("10-rxlet.conflist")) as {
      readonly plugins: readonly { readonly type: string }[];
    };
    expect(list.plugins.map(({ type }) => type)).toEqual(["bridge", "portmap"]);
  });

  it("has a unit that restarts the agent alone, leaves containers running and bounds the heaps of malloc", () => {
    const lines = packaged("rxlet.service").split("\n");
    const wanted = [
      "Restart=always",
      "KillMode=process",
      "Environment=MALLOC_ARENA_MAX=2",
      "ExecStart=/usr/local/bin/rxlet --config=/etc/rxlet/config.yaml",
    ];
    expect(wanted.filter((line) => !lines.includes(line))).toEqual([]);
  });
});
