/**
 * How fast pods start on a real Docker behind the dockershim, beside the floor: the same requests to Docker made by a
 * bare client in the same run. `node bench/docker.ts` (root, dockerd, containerd).
 */
import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom } from "rxjs";
import * as cri from "../src/gen/cri.ts";
import { createEngine } from "../src/dockershim/engine/engine.ts";
import type { Engine } from "../src/dockershim/engine/engine.ts";
import { containerEvent } from "../src/dockershim/engine/events.ts";
import { dockerCalls } from "../src/dockershim/dockerCalls.ts";
import { buildProgram } from "../test/support/builtProgram.ts";
import { type Daemon, startDaemon } from "../test/support/daemon.ts";
import { findDocker } from "../test/support/dockerInstallation.ts";
import { type DockershimNode, startDockershimNode } from "../test/support/dockershimNode.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { removeFolder } from "../test/support/removeFolder.ts";
import { manifestOf } from "./benchNode.ts";
import { median, printRow, printTitle, wallMs } from "./figures.ts";

const RUNS = 20;
/** A pod stays this long before the next, so that nothing of its start is under way any more. */
const SETTLE_MS = 300;

/** Bodies of Docker's containers like those that the shim asks for. */
async function floor(engine: Engine, parent: string, name: string): Promise<number> {
  const calls = dockerCalls(engine);
  const began = performance.now();
  const host = { CgroupParent: parent, CpuShares: 2 };
  const sandbox = await calls.create(`bare_${name}`, {
    Image: PAUSE_IMAGE,
    HostConfig: { ...host, IpcMode: "shareable" },
  });
  await calls.start(sandbox);
  const joined = { NetworkMode: `container:${sandbox}`, IpcMode: `container:${sandbox}` };
  const container = await calls.create(`bare_${name}_main`, { Image: PAUSE_IMAGE, HostConfig: { ...host, ...joined } });
  await calls.start(container);
  const took = performance.now() - began;
  await calls.remove(container);
  await calls.remove(sandbox);
  return took;
}

/** The three calls of CRI for the same pod. */
async function throughShim({ client, docker }: DockershimNode, name: string): Promise<number> {
  const { runtime } = client;
  const metadata = { name, uid: name, namespace: "bench", attempt: 0 };
  const sandboxConfig = cri.PodSandboxConfig.create({ metadata, linux: { cgroupParent: docker.cgroupParent } });
  const config = cri.ContainerConfig.create({ metadata: { name: "main" }, image: { image: PAUSE_IMAGE }, linux: {} });
  const began = performance.now();
  const { podSandboxId } = await firstValueFrom(
    runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: sandboxConfig })),
  );
  const { containerId } = await firstValueFrom(
    runtime.createContainer(cri.CreateContainerRequest.create({ podSandboxId, config, sandboxConfig })),
  );
  await firstValueFrom(runtime.startContainer(cri.StartContainerRequest.create({ containerId })));
  const took = performance.now() - began;
  await firstValueFrom(runtime.removePodSandbox(cri.RemovePodSandboxRequest.create({ podSandboxId })));
  return took;
}

/** From the manifest to Docker's event of the start of the pod's container. */
async function throughKubelet(engine: Engine, daemon: Daemon, folder: string, name: string): Promise<number> {
  const filters = JSON.stringify({ event: ["start"], label: ["io.kubernetes.docker.type=container"] });
  const events = await engine.stream({ method: "GET", path: "/events", query: { filters } });
  const aside = join(folder, `${name}.json.new`);
  await writeFile(aside, JSON.stringify(manifestOf(name)));
  const began = wallMs();
  await rename(aside, join(daemon.manifests, `${name}.json`));
  let at = Number.NaN;
  for await (const event of events) {
    const found = containerEvent(event);
    if (found?.attributes["io.kubernetes.pod.name"]?.startsWith(name) !== true) continue;
    at = Number(found.at) / 1e6;
    break;
  }
  await pause(SETTLE_MS);
  await daemon.drop(`${name}.json`);
  await daemon.untilGone(name);
  return at - began;
}

async function measure(node: DockershimNode, folder: string): Promise<void> {
  const { docker } = node;
  const engine = createEngine(docker.socket);
  const endpoint = `unix://${join(docker.folder, "cri.sock")}`;
  const main = await buildProgram(folder);
  const daemon = await startDaemon({ folder, endpoint, cgroupRoot: docker.cgroupParent, main });
  const [floors, shims, kubelets]: [number[], number[], number[]] = [[], [], []];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      floors.push(await floor(engine, docker.cgroupParent, `floor-${run}`));
      shims.push(await throughShim(node, `shim-${run}`));
      kubelets.push(await throughKubelet(engine, daemon, folder, `pod-${run}`));
      await pause(SETTLE_MS);
    }
  } finally {
    await daemon.kill("SIGTERM");
    await engine.close();
  }
  const floorMs = median(floors);
  printTitle(`one pod on Docker, ${RUNS} times (ms)`);
  printRow("floor: create and start of both containers by a bare client", floors);
  printRow("RunPodSandbox, CreateContainer, StartContainer", shims);
  const over = (figures: readonly number[]): readonly number[] => figures.map((ms) => ms - floorMs);
  printRow("  over the floor's p50", over(shims), "aim: p50 15");
  printRow("manifest renamed -> its container has started", kubelets);
  printRow("  over the floor's p50", over(kubelets));
}

const search = findDocker();
if (!search.found) {
  console.error(`cannot measure here, missing: ${search.missing.join(", ")}`);
  process.exitCode = 1;
} else {
  const folder = await mkdtemp(join(tmpdir(), "rxlet-bench-"));
  const node = await startDockershimNode(search.installation);
  try {
    await measure(node, folder);
  } finally {
    await node.stop();
    await removeFolder(folder);
  }
}
