import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { podCgroups } from "../../../src/commands/podCgroups.ts";
import { CgroupDriver, RuntimeConfigResponse } from "../../../src/gen/cri.ts";
import type { RuntimeService } from "../../../src/ports/cri.ts";
import { createBusctl } from "../../../src/sinks/busctl.ts";
import { fakeBusctl } from "../../support/fakeBusctl.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { realFiles } from "../../support/realFiles.ts";

const CONFIG = { cgroupsPerQos: true, cgroupDriver: "cgroupfs", cgroupRoot: "/" } as const;

const portsWith = (runtimeConfig: RuntimeService["runtimeConfig"]) => ({
  runtime: { runtimeConfig } as unknown as RuntimeService,
  files: realFiles(),
  clock: realClock,
  telemetry: recordingTelemetry(),
});
const usingSystemd = portsWith(() =>
  of(RuntimeConfigResponse.create({ linux: { cgroupDriver: CgroupDriver.SYSTEMD } })),
);

describe("podCgroups", () => {
  const dir = temporaryDirectory();
  const onSystemd = (bootedDir: string, program: string) =>
    firstValueFrom(
      podCgroups(CONFIG, { cgroupVersion: 2 }, usingSystemd, {
        bootedDir,
        systemd: createBusctl({ clock: realClock, program }),
      }),
    ).catch(({ code, message }: { code: string; message: string }) => `${code}: ${message}`);

  it("are none, and nobody is asked, where pods get none", async () => {
    const off = podCgroups(
      { ...CONFIG, cgroupsPerQos: false },
      { cgroupVersion: 2 },
      portsWith(() => NEVER),
    );
    expect(await firstValueFrom(off)).toEqual({ cgroupDriver: "cgroupfs", cgroups: undefined });
  });

  it.each([
    ["", "cgroupfs"],
    ["/", "cgroupfs"],
    ["/node", "cgroupfs"],
    ["/node/", "cgroupfs"],
    [
      "/none",
      'NotFound: invalid configuration: cgroupRoot: cgroup ["none"] does not exist: there is no DIR/none/cgroup.controllers',
    ],
    [
      "/node/poor",
      'NotFound: invalid configuration: cgroupRoot: cgroup ["node" "poor"] has some missing controllers: memory',
    ],
    ["/../etc", expect.stringContaining('InvalidArgument: invalid configuration: cgroupRoot: "/../etc" is no cgroup')],
    ["node", expect.stringContaining('InvalidArgument: invalid configuration: cgroupRoot: "node" is no cgroup')],
  ])("have a root that exists: %j gives %s", async (cgroupRoot, outcome) => {
    for (const [name, controllers] of [
      ["", "cpu memory"],
      ["node", "cpu memory"],
      ["node/poor", "cpu"],
    ] as const) {
      await mkdir(join(dir(), name), { recursive: true });
      await writeFile(join(dir(), name, "cgroup.controllers"), `${controllers}\n`);
    }
    const ports = portsWith(() => of(RuntimeConfigResponse.create({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } })));
    const place = { bootedDir: dir(), systemd: createBusctl({ clock: realClock }), cgroupDir: dir() };
    const found = firstValueFrom(podCgroups({ ...CONFIG, cgroupRoot }, { cgroupVersion: 2 }, ports, place)).then(
      ({ cgroupDriver }) => cgroupDriver,
      ({ code, message }: { code: string; message: string }) => `${code}: ${message.replaceAll(dir(), "DIR")}`,
    );
    expect(await found).toEqual(outcome);
  });

  it("are systemd's where it runs and the runtime uses it", async () => {
    const { program, calls } = await fakeBusctl(dir());
    expect(await onSystemd(dir(), program)).toEqual({ cgroupDriver: "systemd", cgroups: expect.any(Object) });
    expect(await calls()).toEqual(["Version"]);
  });

  it("are refused where systemd does not run", async () => {
    const { program } = await fakeBusctl(dir());
    const missing = join(dir(), "none");
    expect(await onSystemd(missing, program)).toBe(
      `Unavailable: the cgroup driver is systemd, but systemd does not run here: ${missing} is missing`,
    );
  });

  it("are refused where systemd does not answer", async () => {
    const { program, refuse } = await fakeBusctl(dir());
    await refuse("Version", "Failed to connect to bus: No such file or directory\n");
    expect(await onSystemd(dir(), program)).toBe(
      "Io: the cgroup driver is systemd, but systemd Version failed: Failed to connect to bus: No such file or directory",
    );
  });
});
