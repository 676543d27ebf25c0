import { BehaviorSubject, EMPTY, NEVER, Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import type { KubeletOptions } from "../../../src/cli/kubeletOptions.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { onDocker } from "../../../src/commands/onDocker.ts";
import type { DockershimStart } from "../../../src/commands/startDockershim.ts";
import { memoryReaders } from "../cli/memoryReaders.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { waitFor } from "../../support/waitFor.ts";

const WORDS = ["--container-runtime=docker", "--root-dir=/r", "--image-service-endpoint=unix:///other"];
const optionsOf = async (...more: readonly string[]): Promise<KubeletOptions> => {
  const loaded = await loadKubeletOptions(parseFlags([...WORDS, ...more], KUBELET_FLAGS), memoryReaders({}));
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return loaded.options;
};

describe("a daemon on Docker", () => {
  it("starts the shim below its root directory, and a node on its socket alone", async () => {
    const starts: DockershimStart[] = [];
    const nodes: KubeletOptions["config"][] = [];
    const steps: string[] = [];
    const { log } = recordingTelemetry();
    const options = await optionsOf(
      "--container-log-max-size=1Mi",
      "--container-log-max-files=3",
      "--network-plugin=cni",
    );
    const start = (how: DockershimStart) => {
      starts.push(how);
      return Promise.resolve({
        close: async () => {
          steps.push("shim closed");
          await Promise.resolve();
        },
      });
    };
    const run = ({ config }: KubeletOptions): Observable<never> => {
      nodes.push(config);
      return new Observable(() => () => void steps.push("node ended"));
    };
    const node = onDocker(options, log, run, start).subscribe({ error: (error: unknown) => steps.push(String(error)) });
    await waitFor("the node", () => nodes.length === 1);
    expect(starts).toEqual([
      {
        docker: options.flags,
        socketPath: "/r/dockershim/dockershim.sock",
        stateDir: "/r/dockershim",
        isInCluster: false,
        logRotation: { maxBytes: 1024 * 1024, maxFiles: 3 },
        log,
      },
    ]);
    expect(nodes).toEqual([
      {
        ...options.config,
        containerRuntimeEndpoint: "unix:///r/dockershim/dockershim.sock",
        imageServiceEndpoint: "",
      },
    ]);
    expect(steps).toEqual([]);
    node.unsubscribe();
    await waitFor("the end of the shim", () => steps.length === 2);
    expect(steps).toEqual(["node ended", "shim closed"]);
  });

  it("ends with a shim that cannot start, and closes one that starts too late", async () => {
    const options = await optionsOf();
    const { log } = recordingTelemetry();
    const failure = new BehaviorSubject<unknown>(undefined);
    onDocker(
      options,
      log,
      () => NEVER,
      () => Promise.reject(new Error("no Docker")),
    ).subscribe({
      error: (error: unknown) => failure.next(error),
    });
    await waitFor("the failure", () => failure.value !== undefined);
    expect(failure.value).toEqual(new Error("no Docker"));

    const late = Promise.withResolvers<{ close(): Promise<void> }>();
    let hasRun = false;
    let isClosed = false;
    const run = () => {
      hasRun = true;
      return EMPTY;
    };
    onDocker(options, log, run, () => late.promise)
      .subscribe()
      .unsubscribe();
    late.resolve({
      close: () => {
        isClosed = true;
        return Promise.resolve();
      },
    });
    await waitFor("the end of the shim", () => isClosed);
    expect(hasRun).toBe(false);
  });
});
