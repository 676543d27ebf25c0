/** The attach and detach controller of a simulated API server. */
import { expect, it } from "vitest";
import { createSimApiServer } from "../../../src/sim/apiServer/simApiServer.ts";
import type { SimNode } from "../../../src/sim/simNode.ts";
import { startStorageControllers } from "../../../src/sim/storage/simAttachments.ts";
import { createSimVolumeSizes } from "../../../src/sim/storage/simVolumeSizes.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { SIM_NAMESPACE } from "../../../src/sim/workload/workload.ts";
import { containerOf } from "../../support/pods.ts";
import { newPod } from "../../support/simApi.ts";

const NODE = "one";
const VOLUME = "kubernetes.io/csi/disk.csi.example.com^volume-of-a-own";
const ATTACH_MS = 2_000;
/** The longest time until a claim is bound. */
const BOUND_MS = 5_000;

/** A server with a pod on the node, whose volume is attached. */
function attached() {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2 });
  const node = { config: { nodeName: NODE }, scheduler, clock, see: () => undefined, note: () => undefined };
  server.put("namespaces", { metadata: { name: SIM_NAMESPACE } });
  server.put("nodes", { metadata: { name: NODE } });
  startStorageControllers(node as unknown as SimNode, server, () => ({ afterMs: ATTACH_MS }), {
    sizes: createSimVolumeSizes(),
    durationMs: 0,
  });
  const runFor = (ms: number): void => {
    const untilMs = clock.monotonicMs() + ms;
    while (scheduler.runNext(untilMs));
    scheduler.advanceTo(untilMs);
  };
  const status = () => server.object("nodes", { name: NODE })?.status ?? {};
  const pod = newPod("a", {
    ...{ nodeName: NODE, containers: [containerOf()] },
    volumes: [{ name: "own", persistentVolumeClaim: { claimName: "a-own" } }],
  });
  server.put("pods", { ...pod, metadata: { ...pod.metadata, namespace: SIM_NAMESPACE } });
  runFor(BOUND_MS + ATTACH_MS);
  return {
    runFor,
    attachments: () => server.objects("volumeattachments").map((each) => each.status?.attached === true),
    isAttached: () => (status().volumesAttached ?? []).some(({ name }) => name === VOLUME),
    use: (isInUse: boolean) =>
      server.setStatusOf("nodes", { name: NODE }, { ...status(), volumesInUse: isInUse ? [VOLUME] : [] }),
    removePod: () => server.delete("pods", { namespace: SIM_NAMESPACE, name: "a" }, { gracePeriodSeconds: 0 }),
  };
}

it("attaches the volume of a pod, and detaches it after the pod", () => {
  const { runFor, attachments, isAttached, removePod } = attached();
  expect([attachments(), isAttached()]).toEqual([[true], true]);
  removePod();
  runFor(ATTACH_MS);
  expect([attachments(), isAttached()]).toEqual([[], false]);
});

it("attaches a volume again that is in use when it is about to be detached, and begins nothing else meanwhile", () => {
  const { runFor, attachments, isAttached, removePod, use } = attached();
  removePod();
  runFor(1);
  use(true);
  runFor(ATTACH_MS / 2);
  use(false);
  runFor(ATTACH_MS / 2);
  expect([attachments(), isAttached()]).toEqual([[true], false]);
  runFor(ATTACH_MS);
  expect([attachments(), isAttached()]).toEqual([[], false]);
});
