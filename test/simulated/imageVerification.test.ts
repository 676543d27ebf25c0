/** Access to a private image on a simulated node: for pods that pulled it, or that have credentials to pull it. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import { pullFileName } from "../../src/core/image/pulledRecord.ts";
import type { KubeletConfig } from "../../src/core/kubeletConfig.ts";
import { ImageSpec, type PullImageRequest } from "../../src/gen/cri.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { newPod } from "../support/simApi.ts";

const IMAGE = "registry.example/private:1";
const RECORDS = "/var/lib/kubelet/image_manager";
const PULL_FAILED = ["ErrImagePull", "ImagePullBackOff"];
const ref = (name: string) => ({ namespace: "default", name });

/** A registry that gives its image to `me` alone. */
function privateNode(config: Partial<KubeletConfig> = {}, preloaded = false) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const users: string[] = [];
  const node = createSimNode({
    seed: "image verification",
    scheduler,
    api: server,
    config,
    ...(preloaded ? { images: [simImage(IMAGE)] } : {}),
    programs: () => runsForever,
    intercept(rpc, request) {
      if (rpc !== "PullImage") return { kind: "proceed" };
      const user = (request as PullImageRequest).auth?.username ?? "nobody";
      users.push(user);
      return user === "me" ? { kind: "proceed" } : { kind: "fail", error: kubeletError("PermissionDenied", "denied") };
    },
  });
  const run = (name: string, secret?: string, imagePullPolicy = "IfNotPresent") => {
    const imagePullSecrets = secret === undefined ? [] : [{ name: secret }];
    const containers = [{ name: "main", image: IMAGE, imagePullPolicy }];
    server.put("pods", newPod(name, { containers, imagePullSecrets }));
    server.schedule(ref(name), node.config.nodeName);
    // Less than it takes to try a pull again.
    node.runFor(8_000);
  };
  const putSecret = (name: string, username: string) =>
    server.put("secrets", {
      metadata: ref(name),
      type: "kubernetes.io/dockerconfigjson",
      data: {
        ".dockerconfigjson": Buffer.from(
          JSON.stringify({ auths: { "registry.example": { username, password: "pass" } } }),
        ).toString("base64"),
      },
    });
  const restart = () => {
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(20_000);
  };
  const waits = (name: string) =>
    node.pods().find(({ metadata }) => metadata.name === name)?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  const files = (kind: "pulled" | "pulling") =>
    node.files.paths().filter((path) => path.startsWith(`${RECORDS}/${kind}/`));
  return { node, users, run, putSecret, restart, waits, files };
}

const running = (...names: readonly string[]) => names.map((name) => `default/${name}/main#0`);

describe("a private image that one pod pulled", () => {
  it("cannot be used by another without credentials, nor once the kubelet was restarted", () => {
    const { node, users, run, putSecret, restart, waits, files } = privateNode();
    putSecret("login", "me");
    run("owner", "login");
    run("thief");
    expect([node.running(), users]).toEqual([running("owner"), ["me", "nobody"]]);
    expect(PULL_FAILED).toContain(waits("thief"));
    expect([files("pulled"), files("pulling")]).toEqual([
      [`${RECORDS}/pulled/${pullFileName(simImage(IMAGE).id)}`],
      [],
    ]);
    restart();
    run("burglar");
    expect(node.running()).toEqual(running("owner"));
    expect(PULL_FAILED).toContain(waits("burglar"));
  });

  it("is forgotten within five minutes once it has gone from the runtime", () => {
    const { node, run, putSecret, files } = privateNode();
    putSecret("login", "me");
    run("owner", "login");
    const before = files("pulled").length;
    node.runtime.images
      .removeImage({ image: ImageSpec.fromPartial({ image: simImage(IMAGE).id }) })
      .subscribe({ error: () => {} });
    node.runFor(300_000);
    expect([before, files("pulled")]).toEqual([1, []]);
  });

  it("can be used without a pull with the same secret, or another one with the same content", () => {
    const { node, users, run, putSecret, restart } = privateNode();
    putSecret("login", "me");
    putSecret("copy", "me");
    run("a", "login");
    run("b", "login");
    run("c", "copy");
    restart();
    run("d", "copy");
    expect([node.running(), users]).toEqual([running("a", "b", "c", "d"), ["me"]]);
  });

  it("is not there for a pod that may not pull, as if it were absent", () => {
    const { node, run, putSecret, waits } = privateNode();
    putSecret("login", "me");
    run("owner", "login");
    run("never", undefined, "Never");
    expect([node.running(), waits("never")]).toEqual([running("owner"), "ErrImageNeverPull"]);
  });

  it("stays closed when its record is corrupted, which is put aside, until a pull works", () => {
    const { node, users, run, putSecret, restart, files } = privateNode();
    putSecret("login", "me");
    run("owner", "login");
    const [path = ""] = files("pulled");
    node.files.put(path, "{");
    restart();
    expect(files("pulled")).toEqual([`${path}.corrupt`]);
    const reported = node.telemetry.lines.filter(({ message }) => message.includes("put aside"));
    expect(reported).toHaveLength(1);
    restart();
    run("thief");
    run("friend", "login");
    expect(node.running()).toEqual(running("friend", "owner"));
    expect(users.filter((user) => user === "me")).toHaveLength(2);
  });

  it("is open to all where nobody is checked", () => {
    const { node, users, run, putSecret } = privateNode({ imageVerification: { policy: "NeverVerify" } });
    putSecret("login", "me");
    run("owner", "login");
    run("thief");
    expect([node.running(), users]).toEqual([running("owner", "thief"), ["me"]]);
  });
});

describe("an image that was there before the kubelet", () => {
  it("is open to all", () => {
    const { node, users, run } = privateNode({}, true);
    run("a");
    expect([node.running(), users]).toEqual([running("a"), []]);
  });

  it("needs credentials with AlwaysVerify", () => {
    const { node, users, run } = privateNode({ imageVerification: { policy: "AlwaysVerify" } }, true);
    run("a");
    expect([node.running(), users]).toEqual([[], ["nobody"]]);
  });
});

describe("a pull that a kubelet did not see end", () => {
  it("leaves an image that needs credentials", () => {
    const { node, users, run, restart, files } = privateNode({}, true);
    node.crashKubelet();
    const intent = { kind: "ImagePullIntent", apiVersion: "kubelet.config.k8s.io/v1beta1", image: IMAGE };
    node.files.put(`${RECORDS}/pulling/${pullFileName(IMAGE)}`, JSON.stringify(intent));
    node.restartKubelet();
    run("a");
    expect([node.running(), users, files("pulling")]).toEqual([[], ["nobody"], []]);
    restart();
    expect(files("pulled")).toHaveLength(1);
  });
});
