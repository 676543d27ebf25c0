/**
 * A daemon on Docker: the dockershim in this process, on a private socket below the root directory, for as long as the
 * node is subscribed. Containers keep running when both end.
 */
import path from "node:path";
import { from, Observable, switchMap } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { parseQuantity, quantityValue } from "../core/quantity.ts";
import type { Logger } from "../ports/telemetry.ts";
import { type DockershimStart, startDockershim } from "./startDockershim.ts";

/** Runs the node that `run` creates. Errors: those of the node, and of a shim that cannot start. */
export function onDocker<T>(
  options: KubeletOptions,
  log: Logger,
  run: (options: KubeletOptions) => Observable<T>,
  start: (how: DockershimStart) => Promise<{ close(): Promise<void> }> = startDockershim,
): Observable<T> {
  const { flags, config, client, bootstrap } = options;
  const stateDir = path.resolve(flags.rootDir, "dockershim");
  const socketPath = path.join(stateDir, "dockershim.sock");
  return new Observable((subscriber) => {
    const maxBytes = Number(
      quantityValue(parseQuantity(config.containerLogMaxSize) ?? { nano: 0n, format: "BinarySI" }),
    );
    const started = start({
      docker: flags,
      socketPath,
      stateDir,
      isInCluster: client !== undefined || bootstrap !== undefined,
      logRotation: { maxBytes, maxFiles: config.containerLogMaxFiles },
      log,
    });
    const endpoints = { containerRuntimeEndpoint: `unix://${socketPath}`, imageServiceEndpoint: "" };
    const node$ = from(started).pipe(switchMap(() => run({ ...options, config: { ...config, ...endpoints } })));
    // The node ends first: its calls would fail without the shim.
    subscriber.add(node$.subscribe(subscriber));
    subscriber.add(() => {
      started
        .then((shim) => shim.close())
        .catch((error: unknown) => log.warn("The dockershim did not end cleanly", { error }));
    });
  });
}
