/** The start of a dockershim: on a Docker that is away, of an unknown version, or configured in another way. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { ok } from "../../../src/core/result.ts";
import type { PodNetwork } from "../../../src/dockershim/podNetwork.ts";
import { runDockershim } from "../../../src/dockershim/runDockershim.ts";
import * as cri from "../../../src/gen/cri.ts";
import { createCriClient } from "../../../src/sinks/cri.ts";
import { type FakeAnswer, json, startFakeDocker } from "../../support/fakeDocker.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("a dockershim", () => {
  const root = temporaryDirectory();
  const INFO = { CgroupDriver: "systemd", DockerRootDir: "/", Runtimes: { runc: {} }, DefaultRuntime: "runc" };

  function options(more: Partial<Parameters<typeof runDockershim>[0]> = {}) {
    const lines: string[] = [];
    return {
      lines,
      socketPath: join(root(), "cri.sock"),
      dockerEndpoint: `unix://${join(root(), "docker.sock")}`,
      stateDir: join(root(), "state"),
      podSandboxImage: "pause:1",
      log: (line: string) => void lines.push(line),
      ...more,
    };
  }
  function clientOf(socketPath: string) {
    const client = createCriClient({ endpoint: `unix://${socketPath}`, clock: realClock, defaultDeadlineMs: 20_000 });
    onTestFinished(() => client.close());
    return client;
  }
  async function fakeDocker(info: object = INFO) {
    const docker = await startFakeDocker(join(root(), "docker.sock"));
    onTestFinished(() => docker.close());
    docker.on("/info", json(info));
    docker.on("/containers/json", json([]));
    docker.on("/events", (_request, response) => void response.writeHead(200).flushHeaders());
    return docker;
  }

  it("starts without Docker, says that it is not ready, and is once Docker is there", async () => {
    const given = options();
    const shim = await runDockershim(given);
    onTestFinished(() => shim.close());
    const client = clientOf(given.socketPath);
    const readiness = async () => {
      const { status } = await firstValueFrom(client.runtime.status(cri.StatusRequest.create()));
      return status?.conditions.map(({ status: isMet, reason }) => [isMet, reason]);
    };
    expect(await readiness()).toEqual([
      [false, "DockerDaemonNotReady"],
      [true, ""],
    ]);
    expect(given.lines).toEqual([expect.stringMatching(/^Docker does not answer yet: docker: GET \/version: ENOENT/)]);
    const docker = await fakeDocker();
    expect(await readiness()).toEqual([
      [true, ""],
      [true, ""],
    ]);
    const config = await firstValueFrom(client.runtime.runtimeConfig(cri.RuntimeConfigRequest.create()));
    expect(config.linux?.cgroupDriver).toBe(cri.CgroupDriver.SYSTEMD);
    await waitFor("the event stream to be followed", () => docker.requests.includes("GET /events"));
  });

  it("stays ready while Docker holds its /info back, as during a pull from a registry that no name server knows", async () => {
    const docker = await fakeDocker();
    const given = options();
    const shim = await runDockershim(given);
    onTestFinished(() => shim.close());
    const client = clientOf(given.socketPath);
    const ask = async () => {
      const { status, runtimeHandlers } = await firstValueFrom(client.runtime.status(cri.StatusRequest.create()));
      return [status?.conditions.map(({ status: isMet }) => isMet), runtimeHandlers.map(({ name }) => name)];
    };
    const ready = [
      [true, true],
      ["", "runc"],
    ];
    expect(await ask()).toEqual(ready);
    docker.on("/info", () => undefined);
    expect(await ask()).toEqual(ready);
  });

  const ID = "ab".repeat(32);
  const NOTHING: FakeAnswer = (_request, response) => void response.writeHead(204).end();
  const SANDBOX = { metadata: { name: "web", namespace: "shop", uid: "u", attempt: 0 } };

  /** A Docker with an image of pause containers, whose containers are in this state, and a client of a shim on it. */
  async function shimOn(type: "podsandbox" | "container", state: object) {
    const docker = await fakeDocker();
    const labels = { "io.kubernetes.docker.type": type };
    docker.on("/containers/create", json({ Id: ID }, 201));
    docker.on(`/containers/${ID}/start`, NOTHING);
    docker.on(`/containers/${ID}/json`, json({ Id: ID, Config: { Labels: labels }, State: state }));
    docker.on(`/containers/${ID}`, NOTHING);
    const given = options();
    const shim = await runDockershim(given);
    onTestFinished(() => shim.close());
    return { docker, client: clientOf(given.socketPath) };
  }

  it("pulls the image of pause containers when Docker lacks it, and asks for it at no other time", async () => {
    const { docker, client } = await shimOn("podsandbox", { Running: true });
    const run = () =>
      firstValueFrom(client.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: SANDBOX })));
    await run();
    expect(docker.requests.filter((request) => request.includes("/images/"))).toEqual([]);
    const before = docker.requests.length;
    let isPulled = false;
    docker.on("/containers/create", (request, response) => {
      const answer = isPulled ? json({ Id: ID }, 201) : json({ message: "No such image: pause:1" }, 404);
      answer(request, response);
    });
    docker.on("/images/create", (request, response) => {
      isPulled = true;
      json({ status: "Done" })(request, response);
    });
    docker.on("/images/pause:1/json", json({ Id: "sha256:1" }));
    expect(await run()).toMatchObject({ podSandboxId: ID });
    const create = "POST /containers/create";
    expect(docker.requests.slice(before, before + 4)).toEqual([
      create,
      "POST /images/create",
      "GET /images/pause:1/json",
      create,
    ]);
  });

  it("starts a container that it created without asking what it is, and any other one only after that", async () => {
    const { docker, client } = await shimOn("container", { Running: false, Status: "created" });
    const inspection = `GET /containers/${ID}/json`;
    const start = async () => {
      const before = docker.requests.length;
      await firstValueFrom(client.runtime.startContainer({ containerId: ID }));
      return docker.requests.slice(before, before + 2);
    };
    expect(await start()).toEqual([inspection, `POST /containers/${ID}/start`]);
    docker.on(
      `/containers/${"cd".repeat(32)}/json`,
      json({
        Id: "cd".repeat(32),
        Config: { Labels: { "io.kubernetes.docker.type": "podsandbox" } },
        State: { Running: true },
      }),
    );
    const config = { metadata: { name: "main", attempt: 0 }, image: { image: "app:1" } };
    const request = { podSandboxId: "cd".repeat(32), config, sandboxConfig: SANDBOX };
    await firstValueFrom(client.runtime.createContainer(cri.CreateContainerRequest.fromPartial(request)));
    expect(await start()).toEqual([`POST /containers/${ID}/start`, inspection]);
    expect(await start()).toEqual([inspection, `POST /containers/${ID}/start`]);
  });

  it("lists containers at once while Docker ends no start", async () => {
    const { docker, client } = await shimOn("container", { Running: false, Status: "created" });
    const hang: FakeAnswer = () => undefined;
    docker.on(`/containers/${ID}/start`, hang);
    firstValueFrom(client.runtime.startContainer({ containerId: ID })).catch(() => undefined);
    await waitFor("the start", () => docker.requests.includes(`POST /containers/${ID}/start`));
    docker.on(`/containers/${ID}/json`, hang);
    const listed = { Id: ID, Names: ["/k8s_main_web_shop_u_0"], Created: 7, State: "created", ImageID: "sha256:1" };
    docker.on("/containers/json", json([{ ...listed, Labels: { "io.kubernetes.docker.type": "container" } }]));
    const before = docker.requests.length;
    const { containers } = await firstValueFrom(client.runtime.listContainers(cri.ListContainersRequest.create()));
    const expected = { id: ID, state: cri.ContainerState.CONTAINER_CREATED, createdAt: 7_000_000_000n };
    expect(containers).toMatchObject([{ ...expected, metadata: { name: "main" }, imageRef: "sha256:1" }]);
    expect(docker.requests.slice(before)).toEqual(["GET /containers/json"]);
  });

  it("fails a sandbox whose process ends at once, and removes its container", async () => {
    const { docker, client } = await shimOn("podsandbox", { Running: false, ExitCode: 7 });
    const run = client.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: SANDBOX }));
    await expect(firstValueFrom(run)).rejects.toMatchObject({
      message: expect.stringContaining("the process of pause:1 ended at once with 7: no pause image?"),
    });
    expect(docker.requests.at(-1)).toBe(`DELETE /containers/${ID}`);
  });

  it("serves while the network disconnects what an earlier one left", async () => {
    await fakeDocker();
    let isSwept = false;
    const network: PodNetwork = {
      add: async () => ok({ ips: [] }),
      remove: async () => ok(undefined),
      status: () => ({ ready: true }),
      sweep: () => {
        isSwept = true;
        return new Promise(() => undefined);
      },
    };
    const given = options({ network });
    const starting = runDockershim(given);
    onTestFinished(async () => (await starting).close());
    await waitFor("the sweep", () => isSwept);
    await waitFor("the socket", () => existsSync(given.socketPath), 10_000);
    const { runtime } = clientOf(given.socketPath);
    expect(await firstValueFrom(runtime.listPodSandbox(cri.ListPodSandboxRequest.create()))).toEqual({ items: [] });
  });

  it.each<[string, object, object, Parameters<typeof options>[0], RegExp]>([
    ["of an old version", { ApiVersion: "1.40" }, INFO, {}, /Docker 20\.10 or later is needed/],
    ["that is none", { hello: "world" }, INFO, {}, /is this Docker\?/],
    [
      "with another cgroup driver",
      { ApiVersion: "1.41" },
      INFO,
      { cgroupDriver: "cgroupfs" },
      /to be cgroupfs, that of Docker is systemd/,
    ],
    [
      "at no Unix socket",
      { ApiVersion: "1.41" },
      INFO,
      { dockerEndpoint: "tcp://127.0.0.1:2375" },
      /only unix:\/\/\/PATH is possible/,
    ],
  ])("refuses a Docker %s, and leaves no socket", async (_what, version, info, more, message) => {
    const docker = await fakeDocker(info);
    docker.on("/version", json(version));
    const given = options(more);
    await expect(runDockershim(given)).rejects.toThrow(message);
    expect(existsSync(given.socketPath)).toBe(false);
  });

  it("does not take the socket of another one that runs", async () => {
    await fakeDocker();
    const given = options();
    const first = await runDockershim(given);
    onTestFinished(() => first.close());
    await expect(runDockershim(given)).rejects.toThrow("another process is listening there");
  });
});
