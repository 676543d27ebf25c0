/** Images that cannot be pulled: the status of the pod, its events, and its deletion without a wait. */
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import type { TimelineView } from "../../src/core/timeline/timelineView.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

/** A wait that is shorter than any back-off or deadline: what it covers happened at once, on a busy machine too. */
const AT_ONCE_MS = 9_000;

const waiting = (pod: Pod | undefined): { readonly reason?: string; readonly message?: string } =>
  pod?.status?.containerStatuses?.[0]?.state?.waiting ?? {};

describeOnContainerd("images on containerd", (installation) => {
  const node = containerdNode(installation);
  // A registry that takes connections and never says a word.
  const sockets = new Set<Socket>();
  let silent: Server;
  beforeAll(async () => {
    silent = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      socket.resume();
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const podOf = (name: string, image: string, imagePullPolicy?: string): Promise<void> =>
    node.daemon.put(
      `${name}.json`,
      manifest(name, { containers: [server("main", ":", { image, ...(imagePullPolicy && { imagePullPolicy }) })] }),
    );
  const waitingFor = async (name: string, reason: string): Promise<Pod> =>
    node.daemon.until(name, (pod) => waiting(pod).reason === reason, `waiting: ${reason}`);
  const goneAtOnce = async (name: string): Promise<void> => {
    await node.daemon.drop(`${name}.json`);
    await waitFor(`${name} to be gone`, async () => (await node.daemon.pod(name)) === undefined, AT_ONCE_MS);
  };

  /** Returns the waits in the pod's timeline. */
  const waitsOf = async (name: string): Promise<TimelineView["waits"]> => {
    const { readOnlyUrl, nodeName } = node.daemon;
    const page = await fetch(`${readOnlyUrl}/debug/rxlet/pods/default/${name}-${nodeName}/timeline`);
    return page.ok ? ((await page.json()) as TimelineView).waits : [];
  };

  it("tells ErrImagePull, then ImagePullBackOff, of an unreachable registry, and lets go at once", async () => {
    await podOf("unreachable", "127.0.0.1:1/team/app:1");
    const held = await waitingFor("unreachable", "ImagePullBackOff");
    expect(held.status?.phase).toBe("Pending");
    const image = "127.0.0.1:1/team/app:1";
    expect(waiting(held).message).toMatch(
      new RegExp(`^Back-off pulling image "${image}": ErrImagePull: .*connection refused$`),
    );
    const reported = (await node.daemon.events("unreachable")).map(({ type, reason, message }) => [
      type,
      reason,
      message,
    ]);
    expect(reported).toEqual([
      ["Normal", "Pulling", `Pulling image "${image}"`],
      ["Warning", "Failed", expect.stringMatching(/^Failed to pull image .*connection refused$/)],
      ["Warning", "Failed", "Error: ErrImagePull"],
      ["Normal", "BackOff", `Back-off pulling image "${image}"`],
      ["Warning", "Failed", "Error: ImagePullBackOff"],
    ]);
    await goneAtOnce("unreachable");
  });

  it("says who waits for a pull under way, and gives it up when its pod goes", async () => {
    const { port } = silent.address() as AddressInfo;
    await podOf("pulling", `127.0.0.1:${port}/team/app:1`);
    await waitFor("containerd to ask the registry", () => sockets.size > 0);
    expect(waiting(await node.daemon.pod("pulling")).reason).toBe("ContainerCreating");
    await podOf("behind", `127.0.0.1:${port}/team/other:1`);
    const wait = await waitFor("the second pod to wait for its pull", async () =>
      (await waitsOf("behind")).find(({ what, ahead }) => what === "ImagePull" && ahead !== undefined),
    );
    expect(wait).toMatchObject({ container: "main", ahead: [`127.0.0.1:${port}/team/app:1`] });
    expect(wait.cause).toMatch(/team\/other:1, second in line behind .*\/team\/app:1 \(pulling for .*\)$/);
    await goneAtOnce("behind");
    await goneAtOnce("pulling");
    await waitFor("containerd to leave the registry", () => sockets.size === 0);
  });

  it("does not pull with policy Never, and says so", async () => {
    await podOf("never-pulled", "rxlet.test/absent:1", "Never");
    const pod = await waitingFor("never-pulled", "ErrImageNeverPull");
    expect(waiting(pod).message).toBe('Container image "rxlet.test/absent:1" is not present with pull policy of Never');
    await goneAtOnce("never-pulled");
  });

  it("refuses a name that is none", async () => {
    await podOf("misnamed", "Not A Name:::");
    const pod = await waitingFor("misnamed", "InvalidImageName");
    expect(waiting(pod).message).toContain("Not A Name:::");
    await goneAtOnce("misnamed");
  });

  it("runs the containers whose images are there beside one whose image is not", async () => {
    const containers = [server("absent", ":", { image: "127.0.0.1:1/team/app:1" }), server("present")];
    await node.daemon.put("mixed.json", manifest("mixed", { containers }));
    const pod = await node.daemon.until(
      "mixed",
      ({ status }) =>
        status?.containerStatuses?.some(({ name, state }) => name === "present" && state?.running) === true,
      "running in part",
    );
    expect(pod.status?.phase).toBe("Pending");
    await goneAtOnce("mixed");
  });
});
