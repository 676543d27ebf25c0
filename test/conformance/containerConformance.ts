import { expect, it } from "vitest";
import { firstValueFrom } from "rxjs";
import * as cri from "../../src/gen/cri.ts";
import { ending } from "./runtimeFixture.ts";
import type { RuntimeUnderTest } from "./runtimeFixture.ts";

const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = cri.ContainerState;

/** Lifecycle of containers: what the kubelet relies on. */
export function containerConformance(under: () => RuntimeUnderTest): void {
  it("takes a container from created to running to exited to gone", async () => {
    const sandbox = await under().sandbox();
    const metadata = { name: "main", attempt: 3 };
    const labels = { "io.kubernetes.container.name": "main" };
    const annotations = { "io.kubernetes.container.hash": "1a2b3c4d" };
    const id = await under().create(sandbox, under().programs.runsUntilTerm(0), { metadata, labels, annotations });
    const identity = { id, metadata, labels, annotations };
    expect(await under().status(id)).toMatchObject({
      ...identity,
      state: CONTAINER_CREATED,
      startedAt: 0n,
      finishedAt: 0n,
    });
    await under().start(id);
    expect(await under().status(id)).toMatchObject({ ...identity, state: CONTAINER_RUNNING, finishedAt: 0n });
    expect(await under().stopContainer(id, 10)).toEqual({ value: {} });
    const { state, createdAt, startedAt, finishedAt } = await under().status(id);
    expect(state).toBe(CONTAINER_EXITED);
    expect([createdAt > 0n, startedAt >= createdAt, finishedAt >= startedAt]).toEqual([true, true, true]);
    expect(await under().removeContainer(id)).toEqual({ value: {} });
    expect(await under().removeContainer(id)).toEqual({ value: {} });
    const status = under().runtime.containerStatus(cri.ContainerStatusRequest.create({ containerId: id }));
    expect(await ending(status)).toEqual({ error: "NotFound" });
  });

  it("keeps the exit code, with reason Completed for zero and Error for others", async () => {
    const sandbox = await under().sandbox();
    const codes = [0, 1, 42, 255];
    const ids = await Promise.all(codes.map((code) => under().run(sandbox, under().programs.exits(code))));
    const endings = await Promise.all(ids.map((id) => under().exited(id)));
    expect(endings.map(({ exitCode, reason }) => [exitCode, reason])).toEqual([
      [0, "Completed"],
      [1, "Error"],
      [42, "Error"],
      [255, "Error"],
    ]);
    // Not compared with startedAt: containerd takes that only when the start call is done, and these may end before.
    expect(endings.map(({ createdAt, finishedAt }) => finishedAt > createdAt)).toEqual(codes.map(() => true));
  });

  it("stops with TERM first: the container ends in its own way", async () => {
    const sandbox = await under().sandbox();
    const id = await under().runHandling(sandbox, under().programs.runsUntilTerm(9));
    expect(await under().stopContainer(id, 30)).toEqual({ value: {} });
    expect(await under().status(id)).toMatchObject({ state: CONTAINER_EXITED, exitCode: 9, reason: "Error" });
  });

  it("kills when the grace period is over, and not before", async () => {
    const sandbox = await under().sandbox();
    const id = await under().runHandling(sandbox, under().programs.ignoresTerm());
    const asked = performance.now();
    expect(await under().stopContainer(id, 1)).toEqual({ value: {} });
    const tookMs = performance.now() - asked;
    expect(await under().status(id)).toMatchObject({ state: CONTAINER_EXITED, exitCode: 137, reason: "Error" });
    expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(10_000);
  });

  it("kills at once with a grace period of zero", async () => {
    const sandbox = await under().sandbox();
    const id = await under().runHandling(sandbox, under().programs.ignoresTerm());
    expect(await under().stopContainer(id, 0)).toEqual({ value: {} });
    expect(await under().status(id)).toMatchObject({ state: CONTAINER_EXITED, exitCode: 137 });
  });

  it("lets a shorter stop overtake a longer one that is under way; both succeed", async () => {
    const sandbox = await under().sandbox();
    const id = await under().runHandling(sandbox, under().programs.ignoresTerm());
    const patient = under().stopContainer(id, 50);
    expect(await under().stopContainer(id, 1)).toEqual({ value: {} });
    expect(await patient).toEqual({ value: {} });
    expect(await under().status(id)).toMatchObject({ state: CONTAINER_EXITED, exitCode: 137 });
  });

  it("stops a container that has exited already as often as asked, keeping its exit code", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.exits(5));
    const before = await under().exited(id);
    expect(await under().stopContainer(id, 1)).toEqual({ value: {} });
    expect(await under().stopContainer(id, 1)).toEqual({ value: {} });
    expect(await under().status(id)).toEqual(before);
  });

  it("removes a container that was never started", async () => {
    const sandbox = await under().sandbox();
    const id = await under().create(sandbox, under().programs.exits(0));
    expect(await under().removeContainer(id)).toEqual({ value: {} });
    expect(await under().listContainers({ id })).toEqual([]);
  });

  it("fails the start of a program that does not exist and shows the container as exited with an error", async () => {
    const sandbox = await under().sandbox();
    const containerId = await under().create(sandbox, under().programs.missing());
    const start = await ending(under().runtime.startContainer(cri.StartContainerRequest.create({ containerId })));
    expect(start).toHaveProperty("error");
    const status = await under().exited(containerId);
    expect([status.exitCode !== 0, status.reason !== "Completed", status.message !== ""]).toEqual([true, true, true]);
  });

  it("lets two attempts of one container exist in one sandbox", async () => {
    const sandbox = await under().sandbox();
    const ids = [];
    for (const attempt of [0, 1]) {
      const id = await under().run(sandbox, under().programs.exits(0), { metadata: { name: "again", attempt } });
      await under().exited(id);
      ids.push(id);
    }
    const request = cri.ListContainersRequest.create({ filter: { podSandboxId: sandbox.id } });
    const { containers } = await firstValueFrom(under().runtime.listContainers(request));
    expect(new Map(containers.map(({ id, metadata }) => [id, metadata]))).toEqual(
      new Map(ids.map((id, attempt) => [id, { name: "again", attempt }])),
    );
  });

  it("lists containers by id, state, sandbox and labels, all of which have to match", async () => {
    const [one, other] = await Promise.all([under().sandbox(), under().sandbox()]);
    const group = under().fresh("group");
    const { exits, runsUntilTerm } = under().programs;
    const created = await under().create(one, exits(0), { labels: { group, role: "created" } });
    const running = await under().run(one, runsUntilTerm(0), { labels: { group, role: "running" } });
    const exited = await under().run(other, exits(0), { labels: { group, role: "exited" } });
    await under().exited(exited);
    const list = (filter: Parameters<RuntimeUnderTest["listContainers"]>[0]) => under().listContainers(filter);
    expect({
      all: await list({ labelSelector: { group } }),
      bySandbox: await list({ podSandboxId: one.id }),
      created: await list({ labelSelector: { group }, state: { state: CONTAINER_CREATED } }),
      running: await list({ labelSelector: { group }, state: { state: CONTAINER_RUNNING } }),
      exited: await list({ labelSelector: { group }, state: { state: CONTAINER_EXITED } }),
      byRole: await list({ labelSelector: { group, role: "running" } }),
      byId: await list({ id: created }),
      contradiction: await list({ id: created, podSandboxId: other.id }),
      noSuchLabel: await list({ labelSelector: { group, role: "none" } }),
      noSuchSandbox: await list({ podSandboxId: "0000" }),
    }).toEqual({
      all: [created, running, exited].sort(),
      bySandbox: [created, running].sort(),
      created: [created],
      running: [running],
      exited: [exited],
      byRole: [running],
      byId: [created],
      contradiction: [],
      noSuchLabel: [],
      noSuchSandbox: [],
    });
  });

  it("names sandbox, image and state of a container in its list", async () => {
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.runsUntilTerm(0), { metadata: { name: "m", attempt: 1 } });
    const request = cri.ListContainersRequest.create({ filter: { id } });
    const { containers } = await firstValueFrom(under().runtime.listContainers(request));
    const { createdAt, imageRef, image } = await under().status(id);
    expect(containers).toMatchObject([
      {
        id,
        podSandboxId: sandbox.id,
        metadata: { name: "m", attempt: 1 },
        state: CONTAINER_RUNNING,
        createdAt,
        imageRef,
      },
    ]);
    expect([imageRef !== "", image?.image !== ""]).toEqual([true, true]);
  });

  it("creates, starts and inspects many containers at once without mixing them up", async () => {
    const sandbox = await under().sandbox();
    const codes = Array.from({ length: 12 }, (_, index) => index);
    const endings = await Promise.all(
      codes.map(async (code) => {
        const labels = { code: String(code) };
        const id = await under().run(sandbox, under().programs.exits(code), { labels });
        const status = await under().exited(id);
        return [status.labels, status.exitCode];
      }),
    );
    expect(endings).toEqual(codes.map((code) => [{ code: String(code) }, code]));
  });

  it("answers NotFound for containers and sandboxes it does not know", async () => {
    const { runtime } = under();
    const containerId = "f".repeat(64);
    expect({
      status: await ending(runtime.containerStatus(cri.ContainerStatusRequest.create({ containerId }))),
      start: await ending(runtime.startContainer(cri.StartContainerRequest.create({ containerId }))),
      execSync: await ending(runtime.execSync(cri.ExecSyncRequest.create({ containerId, cmd: ["true"] }))),
      sandbox: await ending(
        runtime.podSandboxStatus(cri.PodSandboxStatusRequest.create({ podSandboxId: containerId })),
      ),
      create: await ending(
        runtime.createContainer(
          cri.CreateContainerRequest.create({
            podSandboxId: containerId,
            config: { metadata: { name: "x" }, image: { image: under().fixture.image } },
            sandboxConfig: { metadata: { name: "x", uid: "x", namespace: "x" } },
          }),
        ),
      ),
      remove: await under().removeContainer(containerId),
      removeSandbox: await under().removeSandbox(containerId),
    }).toEqual({
      status: { error: "NotFound" },
      start: { error: "NotFound" },
      execSync: { error: "NotFound" },
      sandbox: { error: "NotFound" },
      create: { error: "NotFound" },
      remove: { value: {} },
      removeSandbox: { value: {} },
    });
  });

  it("gives a running container other limits without starting it again, and tells of them", async () => {
    const size = (factor: bigint) => ({
      cpuShares: 256n * factor,
      cpuPeriod: 100_000n,
      cpuQuota: 20_000n * factor,
      memoryLimitInBytes: 64n * 1024n * 1024n * factor,
      memorySwapLimitInBytes: 64n * 1024n * 1024n * factor,
    });
    const sandbox = await under().sandbox();
    const id = await under().run(sandbox, under().programs.runsUntilTerm(0), { linux: { resources: size(1n) } });
    const { startedAt } = await under().status(id);
    const sizeOf = async () => {
      const { state, resources, ...status } = await under().status(id);
      const { cpuShares, cpuPeriod, cpuQuota, memoryLimitInBytes } = resources?.linux ?? {};
      return [state, status.startedAt, cpuShares, cpuPeriod, cpuQuota, memoryLimitInBytes];
    };
    for (const factor of [1n, 3n, 2n]) {
      const request = cri.UpdateContainerResourcesRequest.create({ containerId: id, linux: size(factor) });
      expect(await ending(under().runtime.updateContainerResources(request))).toEqual({ value: {} });
      const { cpuShares, cpuPeriod, cpuQuota, memoryLimitInBytes } = size(factor);
      const expected = [CONTAINER_RUNNING, startedAt, cpuShares, cpuPeriod, cpuQuota, memoryLimitInBytes];
      expect(await sizeOf()).toEqual(expected);
    }
  });

  it("lists more than 4 MiB in one answer", async () => {
    const sandbox = await under().sandbox();
    const annotations = { filler: "x".repeat(1024 * 1024) };
    const command = under().programs.exits(0);
    const ids = await Promise.all([1, 2, 3, 4, 5].map(() => under().create(sandbox, command, { annotations })));
    const request = cri.ListContainersRequest.create({ filter: { podSandboxId: sandbox.id } });
    const { containers } = await firstValueFrom(under().runtime.listContainers(request));
    expect(new Map(containers.map(({ id, annotations: { filler } }) => [id, filler?.length]))).toEqual(
      new Map(ids.map((id) => [id, 1024 * 1024])),
    );
  });
}
