import { describe, expect, it } from "vitest";
import { HOST_IMAGE_ID, HOST_IMAGE_REF, meansHostImage } from "../../../src/embeddedRuntime/hostImage.ts";
import { enterScript, superviseScript } from "../../../src/embeddedRuntime/launchScripts.ts";
import { freePodAddress } from "../../../src/embeddedRuntime/freePodAddress.ts";
import { parsePs } from "../../../src/embeddedRuntime/processTable.ts";

describe("meansHostImage", () => {
  it.each([
    ["rxlet.dev/host", true],
    ["rxlet.dev/host:latest", true],
    ["rxlet.dev/host:v1.2-3", true],
    [HOST_IMAGE_REF, true],
    [`rxlet.dev/host:v1@${HOST_IMAGE_ID}`, true],
    [HOST_IMAGE_ID, true],
    [HOST_IMAGE_ID.slice("sha256:".length), true],
    ["", false],
    ["host", false],
    ["rxlet.dev/host:", false],
    ["rxlet.dev/hostile", false],
    ["rxlet.dev/hostile:latest", false],
    ["docker.io/rxlet.dev/host", false],
    [`rxlet.dev/host@sha256:${"0".repeat(64)}`, false],
    [`nginx@${HOST_IMAGE_ID}`, false],
  ])("%s: %s", (reference, expected) => {
    expect(meansHostImage(reference)).toBe(expected);
  });
});

describe("freePodAddress", () => {
  it("gives each pod its own address in 127.64.0.0/10, in an order fixed by the state directory", () => {
    const take = (stateDir: string, count: number): readonly string[] => {
      const taken = new Set<string>();
      while (taken.size < count) taken.add(freePodAddress(stateDir, taken, "linux"));
      return [...taken];
    };
    const addresses = take("/state", 300);
    expect([new Set(addresses).size, take("/state", 300)]).toEqual([300, addresses]);
    expect(addresses.filter((address) => !/^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d+\.\d+$/.test(address))).toEqual(
      [],
    );
    expect(addresses.filter((address) => /\.(0|255)$/.test(address))).toEqual([]);
  });

  it("reuses a freed address", () => {
    const [first, second] = [
      freePodAddress("/state", new Set(), "linux"),
      freePodAddress("/state", new Set([freePodAddress("/state", new Set(), "linux")]), "linux"),
    ];
    expect([first === second, freePodAddress("/state", new Set([second]), "linux")]).toEqual([false, first]);
  });

  it("returns 127.0.0.1 on systems where no other address is local", () => {
    expect(freePodAddress("/state", new Set(), "darwin")).toBe("127.0.0.1");
  });
});

describe("parsePs", () => {
  it("reads PID, group, memory and CPU time in every format and skips other lines", () => {
    const text = "    1     1   9000  12:03.50\n  77    70      0 1-02:03:04\n 78 70 12 00:00:01\n\nps: warning\n";
    const faults = { pageFaults: 0n, majorPageFaults: 0n };
    expect(parsePs(text)).toEqual([
      { pid: 1, session: 1, cpuNs: 723_500_000_000n, rssBytes: 9_216_000n, ...faults },
      { pid: 77, session: 70, cpuNs: 93_784_000_000_000n, rssBytes: 0n, ...faults },
      { pid: 78, session: 70, cpuNs: 1_000_000_000n, rssBytes: 12_288n, ...faults },
    ]);
  });
});

describe("launch scripts", () => {
  it("export variables by the shell or by env(1) and quote every byte", () => {
    const env = new Map(
      Object.entries({ A: "it's", "b.c": "$x", PWD: "/p", RAW: "" }).map(([key, value]) => [key, Buffer.from(value)]),
    );
    env.set("RAW", Buffer.from([0xff]));
    expect(enterScript(env).toString("latin1")).toBe(
      "export A='it'\\''s'\nexport RAW='\xff'\n" +
        "exec /usr/bin/env -u _ -u PWD -u OLDPWD -u SHLVL 'b.c=$x' 'PWD=/p' \"$@\"\n",
    );
  });

  it("survive every catchable signal", () => {
    const signals = { SIGHUP: 1, SIGKILL: 9, SIGTERM: 15, SIGCHLD: 17, SIGSTOP: 19, SIGIOT: 6, SIGABRT: 6 };
    const trap = (platform: NodeJS.Platform): string | undefined =>
      superviseScript(platform, signals)
        .split("\n")
        .find((line) => line.startsWith("trap"));
    const realTime = Array.from({ length: 31 }, (_, index) => 34 + index).join(" ");
    expect([trap("darwin"), trap("linux")]).toEqual(["trap : 1 6 15", `trap : 1 6 15 ${realTime}`]);
  });
});
