/** Starts of containers by a shim that may be killed at any moment: logs and cgroup files are there all the same. */
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRecentKeys } from "../../../src/core/recentKeys.ts";
import { containerCalls } from "../../../src/dockershim/containerCalls.ts";
import type { DockerCalls } from "../../../src/dockershim/dockerCalls.ts";
import { containerDetails, containerSummaries } from "../../../src/dockershim/engine/answers.ts";
import { createFactsCache } from "../../../src/dockershim/factsCache.ts";
import type { Shim } from "../../../src/dockershim/shim.ts";
import { openStartedCgroups } from "../../../src/dockershim/startedCgroups.ts";
import * as cri from "../../../src/gen/cri.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const ID = "ab".repeat(32);
const SANDBOX = "cd".repeat(32);
const PID = 77;
const SIGNAL = new AbortController().signal;

describe("a container", () => {
  const root = temporaryDirectory();
  const log = () => join(root(), "logs", "main", "0.log");
  const dockerLog = () => join(root(), "docker", "containers", ID, `${ID}-json.log`);
  const marks = () => fs.readdir(join(root(), "state", "started"));

  /** A Docker that outlives shims, and has the containers that they make. */
  function createDocker() {
    const labels = new Map<string, Readonly<Record<string, string>>>();
    const state = { running: false, seen: [] as string[], removed: [] as string[] };
    const detailsOf = (id: string) =>
      containerDetails({
        Id: id,
        LogPath: state.running ? dockerLog() : "",
        Config: { Labels: labels.get(id) },
        State: { Running: state.running, Pid: PID },
      });
    const docker = {
      engine: { version: async () => ({ atLeast: () => true }), call: async () => ({ Id: "sha256:1" }) },
      inspect: async (kind: string, id: string) =>
        kind === "sandbox" ? { ...detailsOf(id), running: true } : detailsOf(id),
      find: async (_kind: string, id: string) => (labels.has(id) ? detailsOf(id) : undefined),
      create: async (_name: string, body: { readonly Labels: Readonly<Record<string, string>> }) => {
        labels.set(ID, body.Labels);
        return ID;
      },
      start: async () => {
        state.seen.push(await fs.readlink(log()).catch(() => "no link"));
        state.running = true;
      },
      list: async () =>
        containerSummaries(
          [...labels].map(([id, own]) => ({ Id: id, State: state.running ? "running" : "created", Labels: own })),
        ),
      remove: async (id: string) => {
        labels.delete(id);
        state.removed.push(id);
      },
    };
    return { docker, state, labels };
  }

  /** A shim on it, as after a kill of another one. */
  async function shimOn(docker: ReturnType<typeof createDocker>["docker"], more: Partial<Shim> = {}) {
    const written: string[] = [];
    const reports: string[] = [];
    const cgroups = await openStartedCgroups(join(root(), "state"), async (pid, files) => {
      written.push(`${pid} ${JSON.stringify(files)}`);
    });
    const shim = {
      docker: docker as unknown as DockerCalls,
      info: async () => ({ cgroupDriver: "systemd", remapsUsers: false, rootDir: join(root(), "docker") }),
      facts: createFactsCache(docker as unknown as DockerCalls),
      unstarted: createRecentKeys(16),
      cgroups,
      logOptions: {},
      report: (line: string) => void reports.push(line),
      ...more,
    } as unknown as Shim;
    const calls = containerCalls(shim);
    const metadata = { name: "main", attempt: 0 };
    const linux = { resources: { unified: { "memory.high": "7" } } };
    const config = { metadata, image: { image: "app:1" }, logPath: "main/0.log", linux };
    const sandboxConfig = {
      metadata: { name: "web", namespace: "shop", uid: "u" },
      logDirectory: join(root(), "logs"),
    };
    return {
      written,
      reports,
      create: async () =>
        calls.createContainer?.(
          cri.CreateContainerRequest.fromPartial({ podSandboxId: SANDBOX, config, sandboxConfig }),
          SIGNAL,
        ),
      start: async () => calls.startContainer?.(cri.StartContainerRequest.create({ containerId: ID }), SIGNAL),
      list: async () => calls.listContainers?.(cri.ListContainersRequest.create(), SIGNAL),
      status: async () => calls.containerStatus?.(cri.ContainerStatusRequest.create({ containerId: ID }), SIGNAL),
      update: async () =>
        calls.updateContainerResources?.(
          cri.UpdateContainerResourcesRequest.fromPartial({
            containerId: ID,
            linux: { unified: { "memory.high": "9" } },
          }),
          SIGNAL,
        ),
      remove: async () => calls.removeContainer?.(cri.RemoveContainerRequest.create({ containerId: ID }), SIGNAL),
    };
  }
  const OWN = `${PID} {"memory.high":"7"}`;
  const UPDATED = `${PID} {"memory.high":"9"}`;

  it("has the link to its log before Docker starts it, whichever shim made it", async () => {
    const { docker, state } = createDocker();
    const shim = await shimOn(docker);
    await shim.create();
    await shim.start();
    await fs.rm(log());
    const other = await shimOn(docker);
    await other.start();
    expect(state.seen).toEqual([dockerLog(), dockerLog()]);
    expect(await fs.readlink(log())).toBe(dockerLog());
  });

  it("has the link after its start where Docker does not say its directory", async () => {
    const { docker, state } = createDocker();
    const shim = await shimOn(docker, { info: () => Promise.reject(new Error("no answer in time")) });
    await (await shimOn(docker)).create();
    await fs.rm(log());
    await shim.start();
    expect([state.seen, await fs.readlink(log())]).toEqual([["no link"], dockerLog()]);
    expect(shim.reports).toEqual([`the log of container ${ID} is linked after its start: no answer in time`]);
  });

  it("whose log cannot be linked is not left behind", async () => {
    const { docker, state } = createDocker();
    const shim = await shimOn(docker);
    await fs.mkdir(dirname(log()), { recursive: true });
    await fs.writeFile(log(), "not ours");
    await expect(shim.create()).rejects.toThrow("EEXIST");
    expect([state.removed, await fs.readFile(log(), "utf8")]).toEqual([[ID], "not ours"]);
  });

  it("gets its cgroup files at its start, and never again from another shim", async () => {
    const { docker } = createDocker();
    const shim = await shimOn(docker);
    await shim.create();
    await shim.start();
    expect([shim.written, await marks()]).toEqual([[OWN], []]);
    const next = await shimOn(docker);
    await next.list();
    await next.status();
    expect(next.written).toEqual([]);
  });

  /** The first shim is killed once Docker has started the container. */
  async function killed() {
    const { docker, ...rest } = createDocker();
    const shim = await shimOn({
      ...docker,
      inspect: async (kind, id) =>
        kind === "container" && rest.state.running ? new Promise(() => undefined) : docker.inspect(kind, id),
    });
    await shim.create();
    shim.start().catch(() => undefined);
    await waitFor("the start", () => rest.state.running);
    return { docker, ...rest, shim, next: await shimOn(docker) };
  }

  it.each(["list", "status"] as const)("that a killed shim has started gets them at the first %s", async (call) => {
    const { next } = await killed();
    await next[call]();
    await waitFor("the end of the write", async () => (await marks()).length === 0);
    await next[call]();
    expect(next.written).toEqual([OWN]);
  });

  it("that was created at the last list of a killed shim's successor gets them once it runs", async () => {
    const { state, next } = await killed();
    state.running = false;
    await next.list();
    state.running = true;
    await next.list();
    await waitFor("the end of the write", async () => (await marks()).length === 0);
    expect(next.written).toEqual([OWN]);
  });

  it("gets them from its start alone while that goes on", async () => {
    const { shim } = await killed();
    await shim.list();
    expect([shim.written, await marks()]).toEqual([[], [ID]]);
  });

  it("that a killed shim has started gets them before an update", async () => {
    const { next } = await killed();
    await next.update();
    await next.list();
    expect([next.written, await marks()]).toEqual([[OWN, UPDATED], []]);
  });

  it("has no mark left once it is removed, by the shim or by others", async () => {
    const first = createDocker();
    const shim = await shimOn(first.docker);
    await shim.create();
    expect(await marks()).toEqual([ID]);
    await shim.remove();
    expect(await marks()).toEqual([]);
    await shim.create();
    first.labels.clear();
    await shim.list();
    expect(await marks()).toEqual([]);
  });

  it("keeps the mark that it gets while Docker lists the others", async () => {
    const { docker } = createDocker();
    const shim = await shimOn({
      ...docker,
      list: async () => {
        await shim.create();
        return [];
      },
    });
    await shim.list();
    expect(await marks()).toEqual([ID]);
  });
});
