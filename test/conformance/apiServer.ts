/**
 * The API server behaviour that a kubelet relies on: one suite for every implementation of the port. `makePort` starts one for
 * the whole suite; each test makes objects of its own names. Node and namespace have to be there for each test to use.
 */
import { firstValueFrom } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStatusPatch } from "../../src/core/api/statusPatch.ts";
import type { ApiWatchEvent, ApiWatchOptions } from "../../src/ports/apiServer.ts";
import { newPod } from "../support/simApi.ts";
import { waitFor } from "../support/waitFor.ts";
import { type ApiServerFixture, ApiUnderTest, ending, merge, strategic } from "./apiServerFixture.ts";

/** Declares the suite. */
export function apiServerConformance(name: string, makePort: () => Promise<ApiServerFixture>): void {
  describe(`API server conformance: ${name}`, () => {
    let current: ApiUnderTest | undefined;
    const under = (): ApiUnderTest => {
      if (current === undefined) throw new Error("the API server did not start");
      return current;
    };
    beforeAll(async () => {
      current = new ApiUnderTest(await makePort());
    });
    afterAll(() => current?.fixture.close());

    describe("writes", () => writeConformance(under));
    describe("deletion", () => deletionConformance(under));
    describe("lists and watches", () => watchConformance(under));
    describe("nodes", () => nodeConformance(under));
  });
}

function writeConformance(under: () => ApiUnderTest): void {
  it("refuses to create what is there, and to find what is not", async () => {
    const { port, ref } = under();
    const pod = await under().pod();
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...metadata } = pod.metadata ?? {};
    expect([
      await ending(port.create("pods", { ...pod, metadata })),
      await ending(port.get("pods", ref("no"))),
    ]).toEqual([
      { code: "AlreadyExists", reason: "AlreadyExists" },
      { code: "NotFound", reason: "NotFound" },
    ]);
  });

  it("lets the first of two writers win", async () => {
    const { port } = under();
    const pod = await under().pod();
    const write = (value: string) =>
      ending(port.update("pods", { ...pod, metadata: { ...pod.metadata, labels: { value } } }));
    expect([await write("first"), await write("second")]).toEqual([
      expect.objectContaining({ metadata: expect.objectContaining({ labels: { value: "first" } }) }),
      { code: "Conflict", reason: "Conflict" },
    ]);
  });

  it("takes a status patch, keeps conditions of others, and refuses it for a namesake", async () => {
    const { port } = under();
    const { metadata, status } = await under().pod();
    const place = under().ref(metadata?.name ?? "");
    const options = { subresource: "status" } as const;
    const gate = { type: "example.com/gate", status: "True" };
    await firstValueFrom(port.patch("pods", place, strategic({ status: { conditions: [gate] } }), options));
    const newer = {
      metadata,
      status: { ...status, phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    };
    const patch = createStatusPatch("Pod", { metadata, status }, newer) ?? {};
    const written = await firstValueFrom(port.patch("pods", place, strategic(patch), options));
    expect([written.status?.phase, written.status?.conditions?.map(({ type }) => type).sort()]).toEqual([
      "Running",
      ["Ready", "example.com/gate"],
    ]);
    const other = strategic({ ...patch, metadata: { uid: "00000000-0000-4000-8000-00000000dead" } });
    expect(await ending(port.patch("pods", place, other, options))).toEqual({
      code: "InvalidArgument",
      reason: "Invalid",
    });
  });

  it("answers a patch with the metadata alone if asked to", async () => {
    const { port } = under();
    const { metadata } = await under().pod();
    const place = under().ref(metadata?.name ?? "");
    const patch = merge({ status: { message: "patched" } });
    const answer = await firstValueFrom(
      port.patch("pods", place, patch, { subresource: "status", answer: "metadata" }),
    );
    const stored = await firstValueFrom(port.get("pods", place));
    expect(stored.status?.message).toBe("patched");
    expect(answer).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: stored.metadata,
    });
  });

  it("keeps spec and status apart, and counts generations of the spec", async () => {
    const { port } = under();
    const pod = await under().pod();
    const place = under().ref(pod.metadata?.name ?? "");
    const body = { spec: { activeDeadlineSeconds: 600 }, status: { phase: "Running" } };
    const spec = await firstValueFrom(port.patch("pods", place, merge(body)));
    const status = await firstValueFrom(
      port.patch("pods", place, merge({ ...body, spec: { activeDeadlineSeconds: 60 } }), { subresource: "status" }),
    );
    expect(
      [spec, status].map((each) => [each.metadata?.generation, each.spec?.activeDeadlineSeconds, each.status?.phase]),
    ).toEqual([
      [2, 600, "Pending"],
      [2, 600, "Running"],
    ]);
  });

  it("writes nothing for a change that is none", async () => {
    const { port } = under();
    const { metadata } = await under().pod({ labels: { a: "b" } });
    const same = await firstValueFrom(
      port.patch("pods", under().ref(metadata?.name ?? ""), merge({ metadata: { labels: { a: "b" } } })),
    );
    expect(same.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  });

  it("renews a lease by its version only", async () => {
    const { port, fixture } = under();
    const metadata = { name: fixture.node, namespace: "kube-node-lease" };
    const spec = { holderIdentity: fixture.node, leaseDurationSeconds: 40, renewTime: "2026-01-01T00:00:00.000000Z" };
    const lease = await firstValueFrom(port.create("leases", { metadata, spec }));
    const renewed = { ...lease, spec: { ...lease.spec, renewTime: "2026-01-01T00:00:10.000000Z" } };
    const first = await ending(port.update("leases", renewed as never));
    expect([
      first,
      await ending(port.update("leases", { metadata, spec })),
      await ending(port.update("leases", renewed as never)),
    ]).toEqual([
      expect.objectContaining({ spec: renewed.spec }),
      { code: "InvalidArgument", reason: "Invalid" },
      { code: "Conflict", reason: "Conflict" },
    ]);
  });
}

function deletionConformance(under: () => ApiUnderTest): void {
  it("marks a pod first, shortens its time only, and removes it at grace 0 for the right uid", async () => {
    const { port } = under();
    const pod = await under().pod();
    const place = under().ref(pod.metadata?.name ?? "");
    const grace = async () => (await firstValueFrom(port.get("pods", place))).metadata?.deletionGracePeriodSeconds;
    const graces: unknown[] = [];
    for (const gracePeriodSeconds of [30, 60, 10]) {
      await firstValueFrom(port.delete("pods", place, { gracePeriodSeconds }));
      graces.push(await grace());
    }
    const wrong = { gracePeriodSeconds: 0, preconditions: { uid: "00000000-0000-4000-8000-00000000dead" } };
    const right = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata?.uid ?? "" } };
    expect([graces, await ending(port.delete("pods", place, wrong))]).toEqual([
      [30, 30, 10],
      { code: "Conflict", reason: "Conflict" },
    ]);
    await firstValueFrom(port.delete("pods", place, right));
    expect(await ending(port.get("pods", place))).toEqual({ code: "NotFound", reason: "NotFound" });
  });

  it("keeps a pod until its finalizers are gone", async () => {
    const { port } = under();
    const pod = await under().pod({ finalizers: ["example.com/hold"] });
    const place = under().ref(pod.metadata?.name ?? "");
    await firstValueFrom(port.delete("pods", place, { gracePeriodSeconds: 0 }));
    const held = await firstValueFrom(port.get("pods", place));
    await firstValueFrom(port.patch("pods", place, merge({ metadata: { finalizers: null } })));
    expect([held.metadata?.deletionGracePeriodSeconds, await ending(port.get("pods", place))]).toEqual([
      0,
      { code: "NotFound", reason: "NotFound" },
    ]);
  });
}

function watchConformance(under: () => ApiUnderTest): void {
  const watchPods = (options: ApiWatchOptions) => {
    const { port, fixture } = under();
    const seen: ApiWatchEvent<{ readonly metadata?: { readonly name?: string } }>[] = [];
    let ended = false;
    const fieldSelector = `spec.nodeName=${fixture.node}`;
    const subscription = port.watch("pods", { fieldSelector, ...options }).subscribe({
      next: (event) => seen.push(event),
      error: () => (ended = true),
      complete: () => (ended = true),
    });
    const nameOf = ({ object }: (typeof seen)[number]) => {
      const { metadata } = object as { readonly metadata?: { readonly name?: string } };
      return metadata?.name;
    };
    const of = (name: string | undefined) => seen.filter((event) => nameOf(event) === name);
    return { seen, of, isEnded: () => ended, stop: () => subscription.unsubscribe() };
  };
  const listed = async () => {
    const { port, fixture } = under();
    return firstValueFrom(port.list("pods", { fieldSelector: `spec.nodeName=${fixture.node}` }));
  };

  it("goes on from a list without missing or repeating anything, in order", async () => {
    const { port } = under();
    const { metadata } = await listed();
    const pod = await under().pod();
    const watch = watchPods({ resourceVersion: metadata.resourceVersion });
    const place = under().ref(pod.metadata?.name ?? "");
    await firstValueFrom(port.patch("pods", place, merge({ metadata: { labels: { a: "b" } } })));
    await firstValueFrom(port.delete("pods", place, { gracePeriodSeconds: 0 }));
    await waitFor("the deletion", () => watch.of(place.name).some(({ type }) => type === "DELETED"));
    watch.stop();
    expect(watch.of(place.name).map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
  });

  it("shows a pod to a node when it is bound to it", async () => {
    const { port, fixture } = under();
    const { metadata } = await listed();
    const watch = watchPods({ resourceVersion: metadata.resourceVersion });
    const pod = newPod("bound-later", {}, { namespace: fixture.namespace });
    await firstValueFrom(port.create("pods", pod));
    await firstValueFrom(
      port.createSubresource("pods/binding", under().ref("bound-later"), {
        metadata: { name: "bound-later" },
        target: { apiVersion: "v1", kind: "Node", name: fixture.node },
      }),
    );
    await waitFor("the pod", () => watch.of("bound-later").length > 0);
    watch.stop();
    expect(watch.of("bound-later").map(({ type }) => type)).toEqual(["ADDED"]);
  });

  it("ends a watch when its time is over", async () => {
    const watch = watchPods({ timeoutSeconds: 1 });
    expect(await waitFor("the end", watch.isEnded)).toBe(true);
  });

  it("lists page by page at one version", async () => {
    const { port, fixture } = under();
    await Promise.all([under().pod(), under().pod(), under().pod()]);
    const fieldSelector = `spec.nodeName=${fixture.node}`;
    const whole = await listed();
    const names: unknown[] = [];
    const versions = new Set<string>();
    let token: string | undefined = "";
    while (token !== undefined) {
      const options = token === "" ? {} : { continue: token };
      const page: Awaited<ReturnType<typeof listed>> = await firstValueFrom(
        port.list("pods", { fieldSelector, limit: 2, ...options }),
      );
      names.push(...page.items.map(({ metadata }) => metadata?.name));
      versions.add(page.metadata.resourceVersion);
      token = page.metadata.continue;
      if (names.length === 2) await under().pod();
    }
    expect([names, versions.size]).toEqual([whole.items.map(({ metadata }) => metadata?.name), 1]);
  });

  it("says 410 to a watch from a version it forgot, where it can be made to forget", async () => {
    const { metadata } = await listed();
    await under().pod();
    await under().fixture.forgetHistory?.();
    const watch = watchPods({ resourceVersion: metadata.resourceVersion });
    const first = await waitFor("an event", () => watch.seen[0]);
    watch.stop();
    const expected =
      under().fixture.forgetHistory === undefined ? { type: "ADDED" } : { type: "ERROR", object: { code: 410 } };
    expect(first).toMatchObject(expected);
  });
}

function nodeConformance(under: () => ApiUnderTest): void {
  it("lets a node see its pods and nobody else's secrets, where it tells clients apart", async () => {
    const { port, fixture, ref } = under();
    const { nodePort } = fixture;
    const client = nodePort ?? port;
    const secret = await firstValueFrom(port.create("secrets", { metadata: ref("not-for-nodes") }));
    const pods = await firstValueFrom(client.list("pods", { fieldSelector: `spec.nodeName=${fixture.node}` }));
    const read = await ending(client.get("secrets", ref("not-for-nodes")));
    expect([pods.items.length > 0, read]).toEqual([
      true,
      nodePort === undefined ? secret : { code: "PermissionDenied", reason: "Forbidden" },
    ]);
  });

  it("issues tokens bound to a pod of that service account", async () => {
    const { port, fixture, ref } = under();
    const { namespace, node: nodeName } = fixture;
    for (const name of ["bound", "other"]) {
      await firstValueFrom(port.create("serviceaccounts", { metadata: { name, namespace } }));
    }
    const own = newPod("of-bound", { nodeName, serviceAccountName: "bound" }, { namespace });
    const pod = await firstValueFrom(port.create("pods", own));
    const boundObjectRef = {
      apiVersion: "v1",
      kind: "Pod",
      name: pod.metadata?.name ?? "",
      uid: pod.metadata?.uid ?? "",
    };
    const request = (uid: string, account = "bound") =>
      port.createSubresource("serviceaccounts/token", ref(account), {
        spec: { audiences: [], expirationSeconds: 3600, boundObjectRef: { ...boundObjectRef, uid } },
      });
    const { status } = await firstValueFrom(request(boundObjectRef.uid));
    expect([
      (status?.token ?? "") !== "",
      await ending(request("00000000-0000-4000-8000-00000000dead")),
      await ending(request(boundObjectRef.uid, "other")),
    ]).toEqual([true, { code: "Conflict", reason: "Conflict" }, { code: "InvalidArgument", reason: "BadRequest" }]);
  });
}
