import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import * as cri from "../../../src/gen/cri.ts";
import { createDriftingClock } from "../../../src/sim/host/driftingClock.ts";
import { nextOomKill, oomMessages } from "../../../src/sim/host/oomKiller.ts";
import type { SimHostProcess } from "../../../src/sim/host/simProcesses.ts";
import { createSimHost, type SimHostOptions } from "../../../src/sim/host/simHost.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { createSimRuntime } from "../../../src/sim/runtime/simRuntime.ts";
import { simImage } from "../../../src/sim/runtime/simImageCalls.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

type Bytes = Readonly<Record<string, number>>;

/** Memory of programs by name: from the start, and from a minute on. */
function machine(options: Partial<SimHostOptions> = {}, usage: Bytes = {}, grown: Bytes = {}) {
  const scheduler = createHeapScheduler();
  const clock = createDriftingClock(scheduler);
  const host = createSimHost({ clock, prng: createPrng("host"), ...options });
  const image = simImage("busybox");
  const runtime = createSimRuntime({
    clock,
    latency: () => 2,
    images: [image],
    host,
    programs({ container }) {
      const name = container.metadata?.name ?? "";
      const memoryBytes = grown[name];
      const grows = memoryBytes === undefined ? {} : { grows: [{ afterMs: 60_000, memoryBytes }] };
      return { usage: { cpuMilli: 0, memoryBytes: usage[name] ?? 0 }, ...grows };
    },
  });
  const run = <T>(call: Observable<T>): T => {
    const values: T[] = [];
    call.subscribe({
      next: (value) => values.push(value),
      error: (error: { code: string }) => values.push(error.code as T),
    });
    scheduler.advanceTo(scheduler.now() + 3);
    return values[0] as T;
  };
  const start = (name: string, resources: Partial<cri.LinuxContainerResources> = {}): string => {
    const metadata = { name: `pod-${name}`, namespace: "ns", uid: name, attempt: 0 };
    const linux = cri.LinuxPodSandboxConfig.create({ cgroupParent: `/kubepods/pod${name}` });
    const sandboxConfig = cri.PodSandboxConfig.create({ metadata, linux });
    const { podSandboxId } = run(
      runtime.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: sandboxConfig })),
    );
    const config = { metadata: { name, attempt: 0 }, image: { image: "busybox" }, linux: { resources } };
    const request = cri.CreateContainerRequest.fromPartial({ podSandboxId, config, sandboxConfig });
    const { containerId } = run(runtime.runtime.createContainer(request));
    run(runtime.runtime.startContainer({ containerId }));
    return containerId;
  };
  /** Memory of a container as the runtime tells it, in MiB. */
  const stats = (containerId: string): bigint => {
    const { stats: reported } = run(runtime.runtime.containerStats({ containerId }));
    return (reported?.memory?.workingSetBytes?.value ?? 0n) / BigInt(MIB);
  };
  /** Exits as the runtime tells them: name, code, reason. */
  const exits = () =>
    runtime
      .containers()
      .flatMap(({ config, phase }) =>
        phase.kind === "exited" ? [[config.metadata?.name, phase.exitCode, phase.reason]] : [],
      );
  return {
    scheduler,
    clock,
    host,
    runtime,
    run,
    start,
    stats,
    exits,
    kernelLines: () => host.kernelLog.records.map(({ text }) => text),
  };
}

describe("simulated disks", () => {
  it("counts files on their disk and the usage of others", () => {
    const { host, run } = machine();
    const before = run(host.usage.fileSystem("/var/lib/kubelet"));
    host.files.put("/var/lib/kubelet/a", "x".repeat(1000));
    host.files.put("/run/secret", "yy");
    host.disk.fill("/", "logs", { bytes: GIB, inodes: 5 });
    const after = run(host.usage.fileSystem("/var/lib/kubelet"));
    expect([after.usedBytes - before.usedBytes, before.inodesFree - after.inodesFree]).toEqual([
      BigInt(GIB + 1000),
      9n,
    ]);
    expect(after.availableBytes + after.usedBytes).toBe(after.capacityBytes);
    expect(run(host.usage.fileSystem("/run/x")).usedBytes).toBe(2n);
  });

  it("counts the images of the runtime", () => {
    const { host, run, runtime } = machine();
    const used = () => run(host.usage.fileSystem("/")).usedBytes;
    const before = used();
    const [image] = run(runtime.images.listImages(cri.ListImagesRequest.create())).images;
    run(runtime.images.removeImage(cri.RemoveImageRequest.fromPartial({ image: { image: image?.id ?? "" } })));
    expect(before - used()).toBe(4_000_000n);
  });

  it("rejects writes on a full disk and accepts them again once space is free", () => {
    const { host, run } = machine();
    run(host.files.makeDirectory("/data"));
    host.disk.fill("/", "logs", { bytes: 100 * GIB });
    const full = [
      run(host.files.writeFile("/data/a", "x")),
      run(host.files.makeDirectory("/data/b")),
      run(host.files.writeFile("/run/a", "x")),
      run(host.files.list("/data")),
      run(host.files.remove("/data/nothing")),
    ];
    host.disk.fill("/", "logs", { bytes: 0 });
    expect([full, run(host.files.writeFile("/data/a", "x")), host.files.read("/data/a")]).toEqual([
      ["ResourceExhausted", "ResourceExhausted", "NotFound", [], undefined],
      undefined,
      "x",
    ]);
  });

  it("is full without inodes or without bytes, also through its own files", () => {
    const { host, run } = machine({
      fileSystems: [
        { mountPoint: "/", capacityBytes: 100, inodes: 1000 },
        { mountPoint: "/small", capacityBytes: GIB, inodes: 3 },
      ],
    });
    host.files.put("/small/a", "");
    host.files.put("/small/b", "");
    host.files.put("/a", "x".repeat(100));
    expect([run(host.files.writeFile("/small/c", "")), run(host.files.writeFile("/b", "x"))]).toEqual([
      "ResourceExhausted",
      "ResourceExhausted",
    ]);
  });
});

describe("simulated memory", () => {
  it("is the sum of running programs and other processes", () => {
    const { host, run, start, stats, runtime, scheduler } = machine({}, { a: 300 * MIB, b: 100 * MIB });
    const a = start("a");
    start("b");
    host.processes.start({ name: "daemon", memoryBytes: 50 * MIB, tasks: 7 });
    const memory = () => run(host.usage.memory()).workingSetBytes / BigInt(MIB);
    expect([memory(), run(host.usage.pids())]).toEqual([450n, { max: 32_768n, running: 11n }]);
    expect(stats(a)).toBe(300n);
    runtime.endContainer(a, { afterMs: 0, code: 0 });
    scheduler.advanceTo(scheduler.now() + 10);
    expect([memory(), stats(a), run(host.usage.pids()).running]).toEqual([150n, 0n, 10n]);
  });

  it("kills the worst container when the machine is full, and writes it to the kernel log", () => {
    const { host, start, exits, kernelLines, scheduler } = machine(
      { machine: { memoryBytes: BigInt(GIB) } },
      { big: 600 * MIB, small: 200 * MIB },
    );
    start("small");
    start("big", { oomScoreAdj: -997n });
    host.processes.start({ name: "daemon", memoryBytes: 300 * MIB, oomScoreAdj: -999 });
    scheduler.advanceTo(scheduler.now() + 100);
    expect(exits()).toEqual([["small", 137, "OOMKilled"]]);
    expect(kernelLines()).toEqual([
      "small invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
      expect.stringMatching(
        /^oom-kill:constraint=CONSTRAINT_NONE,nodemask=\(null\),cpuset=\/,mems_allowed=0,global_oom,task_memcg=\/kubepods\/podsmall\/[0-9a-f]+,task=small,pid=1001,uid=0$/,
      ),
      expect.stringMatching(/^Out of memory: Killed process 1001 \(small\) total-vm:204800kB, anon-rss:204800kB,/),
    ]);
  });

  it("kills a container over its own limit despite free memory", () => {
    const { start, exits, scheduler, kernelLines } = machine({}, { hog: 200 * MIB, fine: 200 * MIB });
    start("fine", { memoryLimitInBytes: BigInt(200 * MIB) });
    start("hog", { memoryLimitInBytes: BigInt(100 * MIB) });
    scheduler.advanceTo(scheduler.now() + 100);
    expect([exits(), kernelLines()[2]?.split(" total")[0]]).toEqual([
      [["hog", 137, "OOMKilled"]],
      "Memory cgroup out of memory: Killed process 1003 (hog)",
    ]);
  });

  it("kills a container that grows over its limit, or whose limit is lowered below its usage", () => {
    const { start, exits, scheduler, run, runtime } = machine({}, { fine: 200 * MIB }, { hog: 150 * MIB });
    const limit = { memoryLimitInBytes: BigInt(100 * MIB) };
    start("hog", limit);
    const fine = start("fine");
    scheduler.advanceTo(60_000);
    const before = exits();
    scheduler.advanceTo(61_000);
    const grown = exits();
    run(
      runtime.runtime.updateContainerResources(
        cri.UpdateContainerResourcesRequest.fromPartial({ containerId: fine, linux: limit }),
      ),
    );
    scheduler.advanceTo(62_000);
    const hog = ["hog", 137, "OOMKilled"];
    expect([before, grown, exits()]).toEqual([[], [hog], [hog, ["fine", 137, "OOMKilled"]]]);
  });

  it("keeps the memory of an ended container in use for a while, until a boot at the latest", () => {
    const { start, host, run, runtime, scheduler } = machine(
      { reclaimMs: () => 5_000 },
      { hog: 2 * GIB, other: 2 * GIB },
    );
    const usedGib = (): number => Number(run(host.usage.memory()).workingSetBytes) / GIB;
    const stop = (containerId: string): void => void run(runtime.runtime.stopContainer({ containerId, timeout: 0n }));
    stop(start("hog"));
    const seen = [usedGib()];
    scheduler.advanceTo(scheduler.now() + 5_000);
    seen.push(usedGib());
    stop(start("other"));
    seen.push(usedGib());
    host.reboot();
    seen.push(usedGib());
    expect(seen).toEqual([2, 0, 2, 0]);
  });

  it("chooses no process while memory is free, and never a protected one", () => {
    const process = (more: Partial<SimHostProcess>): SimHostProcess => ({
      pid: 1,
      name: "p",
      cgroup: "/",
      memoryBytes: 100,
      tasks: 1,
      oomScoreAdj: 0,
      memoryLimitBytes: 0,
      ...more,
    });
    const victim = (...processes: readonly SimHostProcess[]) => nextOomKill(processes, 150)?.victim.pid;
    expect([
      victim(process({})),
      victim(process({}), process({ pid: 2, memoryBytes: 120 })),
      victim(process({ oomScoreAdj: 500 }), process({ pid: 2, memoryBytes: 120 })),
      victim(process({ oomScoreAdj: -1000 }), process({ pid: 2, memoryBytes: 120, oomScoreAdj: -1000 })),
    ]).toEqual([undefined, 2, 1, undefined]);
    expect(oomMessages({ victim: process({}), constraint: "none" }).length).toBe(3);
  });
});

describe("simulated boots", () => {
  it("stop every process, clear memory and reset the counters", () => {
    const { host, run, start, exits, runtime, scheduler } = machine();
    host.files.put("/run/rxlet/a", "gone");
    host.files.put("/var/lib/kubelet/a", "kept");
    start("a");
    host.kernelLog.write("before");
    const first = host.machine;
    scheduler.advanceTo(60_000);
    runtime.crash("die");
    host.processes.start({ name: "daemon" });
    host.reboot();
    scheduler.advanceTo(61_000);
    expect([exits(), runtime.sandboxes().map(({ ready }) => ready), host.processes.all()]).toEqual([
      [["a", 255, "Unknown"]],
      [false],
      [],
    ]);
    expect(host.files.paths()).toEqual(["/", "/run", "/var", "/var/lib", "/var/lib/kubelet", "/var/lib/kubelet/a"]);
    expect([host.machine.bootId === first.bootId, host.machine.machineId === first.machineId]).toEqual([false, true]);
    expect([run(host.usage.uptimeMs()), host.kernelLog.records]).toEqual([1_000, []]);
  });

  it("give readers the records of the kernel log from now on", () => {
    const { host, scheduler } = machine();
    scheduler.advanceTo(1_500);
    host.kernelLog.write("one", 3);
    const seen: unknown[] = [];
    host.kernelLog.messages$.subscribe({ next: (message) => seen.push(message) });
    host.kernelLog.write("two");
    expect(seen).toEqual([{ level: 6, sequence: 1, uptimeUs: 1_500_000, text: "two" }]);
  });
});

describe("createDriftingClock", () => {
  it("drifts and steps in wall time, never in durations", () => {
    const scheduler = createHeapScheduler();
    const clock = createDriftingClock(scheduler);
    const start = clock.wallTime();
    const read = () => [clock.monotonicMs(), clock.wallTime() - start];
    scheduler.advanceTo(1_000_000);
    const straight = read();
    clock.setDriftPpm(100);
    scheduler.advanceTo(2_000_000);
    const fast = read();
    clock.stepWallBy(-5_000);
    clock.setDriftPpm(-200);
    scheduler.advanceTo(3_000_000);
    expect([straight, fast, read()]).toEqual([
      [1_000_000, 1_000_000],
      [2_000_000, 2_000_100],
      [3_000_000, 2_994_900],
    ]);
  });
});
