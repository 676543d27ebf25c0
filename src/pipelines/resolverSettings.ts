/**
 * The node's resolver settings, read for each pod, since the file may change at any time. Upstream: getHostDNSConfig.
 */
import { catchError, map, type Observable, of } from "rxjs";
import { parseResolvConf, type ResolvConf } from "../core/container/resolvConf.ts";
import { kubeletError, toKubeletError, withReason } from "../core/errors.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";

/** Differs from upstream: 10 MiB there. Settings this long go into requests to the runtime, which take 16 MiB. */
export const MAX_RESOLV_CONF_BYTES = 1 << 20;

/**
 * Emits once: undefined if pods get none of the node's settings (`resolvConf: ""`), or an error that names the file.
 */
export function resolverSettings({
  ports,
  config,
}: {
  readonly ports: Pick<KubeletPorts, "files">;
  readonly config: Pick<KubeletConfig, "resolvConfPath">;
}): Observable<Result<ResolvConf | undefined>> {
  const path = config.resolvConfPath;
  if (path === "") return of(ok(undefined));
  return ports.files.readTail(path, MAX_RESOLV_CONF_BYTES + 1, "followed").pipe(
    map((text): Result<ResolvConf> => {
      if (text.length <= MAX_RESOLV_CONF_BYTES) return ok(parseResolvConf(text));
      const message = `resolver settings ${path}: more than ${MAX_RESOLV_CONF_BYTES} bytes`;
      return err(kubeletError("InvalidArgument", message, { reason: "CreatePodSandboxError" }));
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      const message = `cannot read the resolver settings of the node (resolvConf): ${error.message}`;
      return of(err(withReason({ ...error, message }, "CreatePodSandboxError")));
    }),
  );
}
