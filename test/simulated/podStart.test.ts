/** The start of a pod: what runs beside the creation of its sandbox, and what waits for it. */
import { NEVER, type Observable, tap, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import type { ImageStatusRequest, ImageStatusResponse } from "../../src/gen/cri.ts";
import { createKubelet } from "../../src/kubelet.ts";
import type { KubeletPorts } from "../../src/ports/kubeletPorts.ts";
import { podNode } from "../support/podNode.ts";
import { podOf } from "../support/pods.ts";

type Look = (request: ImageStatusRequest, answer$: Observable<ImageStatusResponse>) => Observable<ImageStatusResponse>;

/** Starts one pod; the first look at its image is answered by `firstLook`. Returns the looks, changes and times. */
function started(firstLook: Look) {
  const looks: string[] = [];
  const withLooks = (ports: KubeletPorts): KubeletPorts => ({
    ...ports,
    images: {
      ...ports.images,
      imageStatus: (request) => {
        looks.push(request.image?.image ?? "");
        const answer$ = ports.images.imageStatus(request);
        return looks.length === 1 ? firstLook(request, answer$) : answer$;
      },
    },
  });
  const { node, calls, phase, check } = podNode({
    pods: [podOf({ spec: { dnsPolicy: "Default" } })],
    createKubelet: (config, ports) => createKubelet(config, withLooks(ports)),
  });
  node.runFor(1_000);
  expect(phase("uid-1")).toBe("Running");
  check();
  const atMs = (what: string): number => calls.find((call) => call.what.startsWith(what))?.atMs ?? Number.NaN;
  return { looks: looks.length, betweenMs: atMs("CreateContainer") - atMs("RunPodSandbox") };
}

describe("the start of a pod", () => {
  it("looks once at the image, while the runtime makes the sandbox", () => {
    let answeredBeside = false;
    const { looks, betweenMs } = started((_, answer$) => answer$.pipe(tap(() => (answeredBeside = true))));
    expect({ looks, answeredBeside }).toEqual({ looks: 1, answeredBeside: true });
    // RunPodSandbox and PodSandboxStatus, and nothing else that takes time.
    expect(betweenMs).toBe(4);
  });

  it.each([
    ["has no answer", () => NEVER],
    ["fails", () => throwError(() => kubeletError("Unavailable", "not now"))],
  ])("looks again for the container where the look beside the sandbox %s", (_, firstLook) => {
    expect(started(firstLook)).toEqual({ looks: 2, betweenMs: 6 });
  });
});
