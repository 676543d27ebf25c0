/** Images of a simulated node, pulled with what credential plugins know of the pod's service account. */
import { describe, expect, it } from "vitest";
import type { CredentialProvider, TokenAttributes } from "../../src/core/image/credentialProviderConfig.ts";
import type { PullImageRequest } from "../../src/gen/cri.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { later } from "../../src/sim/runtime/simCall.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { newPod } from "../support/simApi.ts";

const API = "credentialprovider.kubelet.k8s.io/v1";
const ref = (name: string) => ({ namespace: "default", name });

interface Asked {
  readonly image: string;
  readonly serviceAccountToken?: string;
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
}

function nodeWithPlugin(attributes: Partial<TokenAttributes> = {}, echoes = false) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2, mayAccess: () => true });
  const provider: CredentialProvider = {
    name: "ecr",
    matchImages: ["registry.example"],
    defaultCacheMs: 60_000,
    apiVersion: API,
    args: [],
    env: {},
    tokenAttributes: {
      audience: "registry",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      requiredAnnotations: ["role"],
      optionalAnnotations: [],
      ...attributes,
    },
  };
  const users: string[] = [];
  const asked: Asked[] = [];
  const node = createSimNode({
    seed: "credential plugins",
    scheduler,
    api: server,
    config: { credentialProviders: [provider] },
    credentialPlugins: {
      run: (_plugin, request) =>
        later(clock, 5, () => {
          const given = JSON.parse(request) as Asked;
          asked.push(given);
          const password = echoes ? given.serviceAccountToken : "p";
          const auth = { "registry.example": { username: given.serviceAccountAnnotations?.["role"], password } };
          return JSON.stringify({
            kind: "CredentialProviderResponse",
            apiVersion: API,
            cacheKeyType: "Registry",
            auth,
          });
        }),
    },
    programs: () => runsForever,
    intercept(rpc, request) {
      if (rpc === "PullImage") users.push((request as PullImageRequest).auth?.username ?? "nobody");
      return { kind: "proceed" };
    },
  });
  const run = (name: string, image: string, serviceAccountName?: string) => {
    const containers = [{ name: "main", image }];
    const account = serviceAccountName === undefined ? {} : { serviceAccountName };
    server.put("pods", newPod(name, { containers, ...account }));
    server.schedule(ref(name), node.config.nodeName);
    node.runFor(30_000);
  };
  /** Pods of manifests have no service account. */
  const runStatic = (name: string, image: string) => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: [{ name: "main", image }] } };
    node.putManifest(`${name}.json`, JSON.stringify(pod));
    node.runFor(60_000);
  };
  return { server, users, asked, run, runStatic };
}

describe("a credential plugin that wants tokens", () => {
  it("receives the pod's service account, once for all its images", () => {
    const { server, users, asked, run } = nodeWithPlugin();
    server.put("serviceaccounts", { metadata: { ...ref("builder"), annotations: { role: "reader", other: "x" } } });
    run("a", "registry.example/a:1", "builder");
    run("b", "registry.example/b:1", "builder");
    expect([users, asked]).toEqual([
      ["reader", "reader"],
      [
        expect.objectContaining({
          image: "registry.example/a",
          serviceAccountToken: expect.stringMatching(/^sim\./),
          serviceAccountAnnotations: { role: "reader" },
        }),
      ],
    ]);
  });

  it("is not asked for a pod whose account lacks what it requires, nor for one without any", () => {
    const { server, users, asked, run, runStatic } = nodeWithPlugin();
    server.put("serviceaccounts", { metadata: ref("builder") });
    run("a", "registry.example/a:1", "builder");
    runStatic("b", "registry.example/b:1");
    expect([users, asked]).toEqual([["nobody", "nobody"], []]);
  });

  it("is asked without an account where it does not insist", () => {
    const { asked, runStatic } = nodeWithPlugin({ requireServiceAccount: false, requiredAnnotations: [] });
    runStatic("a", "registry.example/a:1");
    expect(asked).toEqual([{ kind: "CredentialProviderRequest", apiVersion: API, image: "registry.example/a" }]);
  });

  it("may give back the token only if its answers are for that token", () => {
    const names = (cacheType: TokenAttributes["cacheType"]) => {
      const { server, users, run } = nodeWithPlugin({ cacheType }, true);
      server.put("serviceaccounts", { metadata: { ...ref("builder"), annotations: { role: "reader" } } });
      run("a", "registry.example/a:1", "builder");
      return users;
    };
    expect([names("ServiceAccount"), names("Token")]).toEqual([["nobody"], ["reader"]]);
  });
});
