import { describe, expect, it } from "vitest";
import { newPod, simApi } from "../../support/simApi.ts";

const fieldSelector = "spec.nodeName=n1";

function withPods(...names: readonly string[]) {
  const api = simApi();
  for (const name of names) api.server.put("pods", newPod(name, { nodeName: "n1" }, { labels: { app: name } }));
  const named = (options: Parameters<typeof api.admin.list>[1]) => {
    const { items, metadata } = api.run(api.admin.list("pods", options));
    return { names: items.map((pod) => pod.metadata?.name), metadata };
  };
  return { ...api, named };
}

describe("simulated API server: lists", () => {
  it("lists by fields and labels, in the order of names, at one version", () => {
    const { named, server } = withPods("b", "a", "c");
    server.put("pods", newPod("other", { nodeName: "n2" }));
    const resourceVersion = String(server.revision);
    expect(named({ fieldSelector })).toEqual({ names: ["a", "b", "c"], metadata: { resourceVersion } });
    expect([
      named({ fieldSelector: "metadata.name=b" }).names,
      named({ fieldSelector: "spec.nodeName!=n1" }).names,
      named({ fieldSelector: `${fieldSelector},status.phase=Running` }).names,
      named({ namespace: "kube-system" }).names,
      named({ labelSelector: "app in (a, c)" }).names,
      named({ labelSelector: "app notin (a,c),app" }).names,
      named({ labelSelector: "!app" }).names,
      named({ labelSelector: "app!=a" }).names,
    ]).toEqual([["b"], ["other"], [], [], ["a", "c"], ["b"], ["other"], ["b", "c", "other"]]);
  });

  it("refuses selectors it cannot follow and versions it cannot have", () => {
    const { admin, refusal } = withPods();
    expect([
      refusal(admin.list("pods", { fieldSelector: "spec.color=red" })),
      refusal(admin.list("pods", { labelSelector: "a=(b" })),
      refusal(admin.list("pods", { resourceVersion: "new" })),
      refusal(admin.list("pods", { resourceVersion: "999" })),
      refusal(admin.list("pods", { continue: "nonsense" })),
    ]).toEqual([
      "InvalidArgument/BadRequest: field label not supported: spec.color",
      "InvalidArgument/BadRequest: unable to parse requirement: a=(b",
      'InvalidArgument/BadRequest: invalid resource version "new"',
      "DeadlineExceeded/Timeout: Too large resource version: 999, current: 5",
      "InvalidArgument/BadRequest: continue key is not valid",
    ]);
  });

  it("gives pages of one version, whatever happens between them", () => {
    const { named, server } = withPods("a", "b", "c", "d");
    const first = named({ limit: 2 });
    const token = first.metadata.continue ?? "";
    server.delete("pods", { namespace: "default", name: "c" }, { gracePeriodSeconds: 0 });
    server.put("pods", newPod("bb", { nodeName: "n1" }));
    const second = named({ limit: 2, continue: token });
    expect([first.names, first.metadata.remainingItemCount]).toEqual([["a", "b"], 2]);
    expect(second).toEqual({ names: ["c", "d"], metadata: { resourceVersion: first.metadata.resourceVersion } });
    expect(named({}).names).toEqual(["a", "b", "bb", "d"]);
  });

  it("gives everything at once from the cache, and exactly what was there at a version", () => {
    const { named, server } = withPods("a", "b");
    const then = String(server.revision);
    server.put("pods", newPod("c"));
    expect([
      named({ resourceVersion: "0", limit: 1 }).names,
      named({ resourceVersion: then }).names,
      named({ resourceVersion: then, resourceVersionMatch: "Exact" }).names,
    ]).toEqual([
      ["a", "b", "c"],
      ["a", "b", "c"],
      ["a", "b"],
    ]);
  });

  it("answers 410 for a page or a version that is forgotten", () => {
    const { admin, named, refusal, run, server } = withPods("a", "b");
    const old = String(server.revision);
    const token = named({ limit: 1 }).metadata.continue ?? "";
    server.put("pods", newPod("c"));
    server.compact();
    expect([
      refusal(admin.list("pods", { continue: token })).split(":")[0],
      refusal(admin.list("pods", { resourceVersion: old, resourceVersionMatch: "Exact" })),
    ]).toEqual(["Expired/Expired", `Expired/Expired: The resourceVersion ${old} is too old.`]);
    expect(run(admin.list("pods", {})).items.length).toBe(3);
  });
});
