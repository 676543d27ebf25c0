import { expect, it } from "vitest";
import { firstValueFrom } from "rxjs";
import * as cri from "../../src/gen/cri.ts";
import { ending } from "./runtimeFixture.ts";
import type { RuntimeUnderTest } from "./runtimeFixture.ts";

const { SANDBOX_READY, SANDBOX_NOTREADY } = cri.PodSandboxState;

/** Pod sandboxes: what the kubelet relies on. */
export function sandboxConformance(under: () => RuntimeUnderTest): void {
  it("gives back identity, attempt, labels and annotations of a sandbox, in status and in list", async () => {
    const metadata = { name: under().fresh("identity"), uid: "u-1", namespace: "ns", attempt: 7 };
    const labels = { app: "web", "io.kubernetes.pod.uid": "u-1" };
    const annotations = { "example.org/note": 'äöü, "quotes" and\nlines', empty: "" };
    const { id } = await under().sandbox({ metadata, labels, annotations });
    const status = await under().sandboxStatus(id);
    const expected = { id, metadata, labels, annotations, state: SANDBOX_READY, createdAt: status.createdAt };
    expect(status).toMatchObject(expected);
    expect(status.createdAt).toBeGreaterThan(0n);
    const { items } = await firstValueFrom(
      under().runtime.listPodSandbox(cri.ListPodSandboxRequest.create({ filter: { id } })),
    );
    expect(items).toMatchObject([expected]);
  });

  it("lets two attempts of one pod exist side by side", async () => {
    const metadata = { name: under().fresh("attempts"), uid: "u-2", namespace: "ns" };
    const first = await under().sandbox({ metadata: { ...metadata, attempt: 0 }, labels: { pod: metadata.name } });
    await under().stopSandbox(first.id);
    const second = await under().sandbox({ metadata: { ...metadata, attempt: 1 }, labels: { pod: metadata.name } });
    expect(await under().listSandboxes({ labelSelector: { pod: metadata.name } })).toEqual(
      [first.id, second.id].sort(),
    );
  });

  it("lists sandboxes by id, state and labels, all of which have to match", async () => {
    const group = under().fresh("group");
    const [ready, stopped] = await Promise.all([
      under().sandbox({ labels: { group, role: "a" } }),
      under().sandbox({ labels: { group, role: "b" } }),
    ]);
    await under().stopSandbox(stopped.id);
    const list = (filter: Parameters<RuntimeUnderTest["listSandboxes"]>[0]) => under().listSandboxes(filter);
    expect({
      all: await list({ labelSelector: { group } }),
      byRole: await list({ labelSelector: { group, role: "b" } }),
      ready: await list({ labelSelector: { group }, state: { state: SANDBOX_READY } }),
      notReady: await list({ labelSelector: { group }, state: { state: SANDBOX_NOTREADY } }),
      byId: await list({ id: ready.id }),
      contradiction: await list({ id: ready.id, state: { state: SANDBOX_NOTREADY } }),
      noSuchLabel: await list({ labelSelector: { group, role: "c" } }),
      noSuchId: await list({ id: "0000" }),
    }).toEqual({
      all: [ready.id, stopped.id].sort(),
      byRole: [stopped.id],
      ready: [ready.id],
      notReady: [stopped.id],
      byId: [ready.id],
      contradiction: [],
      noSuchLabel: [],
      noSuchId: [],
    });
  });

  it("stops a sandbox as often as asked, and its containers with it", async () => {
    const sandbox = await under().sandbox();
    const container = await under().runHandling(sandbox, under().programs.ignoresTerm());
    expect(await under().stopSandbox(sandbox.id)).toEqual({ value: {} });
    expect(await under().stopSandbox(sandbox.id)).toEqual({ value: {} });
    expect((await under().sandboxStatus(sandbox.id)).state).toBe(SANDBOX_NOTREADY);
    expect((await under().status(container)).state).toBe(cri.ContainerState.CONTAINER_EXITED);
  });

  it("removes a sandbox as often as asked, and its containers with it", async () => {
    const sandbox = await under().sandbox();
    const container = await under().run(sandbox, under().programs.exits(0));
    await under().stopSandbox(sandbox.id);
    expect(await under().removeSandbox(sandbox.id)).toEqual({ value: {} });
    expect(await under().removeSandbox(sandbox.id)).toEqual({ value: {} });
    // containerd 1.6 answers NotFound here, later releases and the protocol's text say success.
    expect([{ value: {} }, { error: "NotFound" }]).toContainEqual(await under().stopSandbox(sandbox.id));
    expect(await under().listSandboxes({ id: sandbox.id })).toEqual([]);
    expect(await under().listContainers({ id: container })).toEqual([]);
  });

  it("answers NotFound for the status of a sandbox that is gone", async () => {
    const { id } = await under().sandbox();
    await under().stopSandbox(id);
    await under().removeSandbox(id);
    const status = under().runtime.podSandboxStatus(cri.PodSandboxStatusRequest.create({ podSandboxId: id }));
    expect(await ending(status)).toEqual({ error: "NotFound" });
  });
}
