/** Images of a simulated node, pulled with what the pod's Secrets and the node's docker files say. */
import { describe, expect, it } from "vitest";
import type { PullImageRequest } from "../../src/gen/cri.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { newPod } from "../support/simApi.ts";

const ref = (name: string) => ({ namespace: "default", name });
const config = (username: string): string =>
  JSON.stringify({ auths: { "registry.example": { username, password: "pass" } } });

function nodeWithPod() {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const users: string[] = [];
  const node = createSimNode({
    seed: "pull secrets",
    scheduler,
    api: server,
    programs: () => runsForever,
    intercept(rpc, request) {
      if (rpc === "PullImage") users.push((request as PullImageRequest).auth?.username ?? "nobody");
      return { kind: "proceed" };
    },
  });
  server.put("pods", newPod("web", { imagePullSecrets: [{ name: "login" }] }));
  return {
    node,
    server,
    users,
    place: () => server.schedule(ref("web"), node.config.nodeName),
    putSecret: (username: string) =>
      server.put("secrets", {
        metadata: ref("login"),
        type: "kubernetes.io/dockerconfigjson",
        data: { ".dockerconfigjson": Buffer.from(config(username)).toString("base64") },
      }),
    /** Reasons of pod events; the node also emits events about itself. */
    reasons: () =>
      server.objects("events").flatMap(({ involvedObject, reason }) => (involvedObject.kind === "Pod" ? [reason] : [])),
  };
}

describe("an image of a pod with a pull secret", () => {
  it("is pulled as the secret says", () => {
    const { node, users, place, putSecret, reasons } = nodeWithPod();
    putSecret("me");
    place();
    node.runFor(60_000);
    expect([users, node.running(), reasons()]).toEqual([
      ["me"],
      ["default/web/main#0"],
      ["Pulling", "Pulled", "Created", "Started"],
    ]);
  });

  it("is pulled without when it is missing, which an event of the pod tells", () => {
    const { node, server, users, place } = nodeWithPod();
    place();
    node.runFor(60_000);
    const reported = server.objects("events").find(({ reason }) => reason === "FailedToRetrieveImagePullSecret");
    expect([users, reported?.message, reported?.involvedObject.fieldPath]).toEqual([
      ["nobody"],
      "Unable to retrieve some image pull secrets (login); attempting to pull the image may not succeed.",
      undefined,
    ]);
  });

  it("is pulled as the node's own file says where the pod has nothing for the registry", () => {
    const { node, users, place } = nodeWithPod();
    node.files.put(`${node.config.directories.rootDir}/config.json`, config("node"));
    place();
    node.runFor(60_000);
    expect(users).toEqual(["node"]);
  });
});
