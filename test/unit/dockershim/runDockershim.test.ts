/** The start of a dockershim: on a Docker that is away, of an unknown version, or configured in another way. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { runDockershim } from "../../../src/dockershim/runDockershim.ts";
import * as cri from "../../../src/gen/cri.ts";
import { createCriClient } from "../../../src/sinks/cri.ts";
import { json, startFakeDocker } from "../../support/fakeDocker.ts";
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

  it("fails a sandbox whose process ends at once, and removes its container", async () => {
    const id = "ab".repeat(32);
    const docker = await fakeDocker();
    const labels = { "io.kubernetes.docker.type": "podsandbox" };
    docker.on("/images/pause:1/json", json({ Id: "sha256:1" }));
    docker.on("/containers/create", json({ Id: id }, 201));
    docker.on(`/containers/${id}/start`, (_request, response) => void response.writeHead(204).end());
    docker.on(
      `/containers/${id}/json`,
      json({ Id: id, Config: { Labels: labels }, State: { Running: false, ExitCode: 7 } }),
    );
    docker.on(`/containers/${id}`, (_request, response) => void response.writeHead(204).end());
    const given = options();
    const shim = await runDockershim(given);
    onTestFinished(() => shim.close());
    const client = clientOf(given.socketPath);
    const config = { metadata: { name: "web", namespace: "shop", uid: "u", attempt: 0 } };
    const run = client.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config }));
    await expect(firstValueFrom(run)).rejects.toMatchObject({
      message: expect.stringContaining("the process of pause:1 ended at once with 7: no pause image?"),
    });
    expect(docker.requests.at(-1)).toBe(`DELETE /containers/${id}`);
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
