/** Checks the resolver settings of the node once, at start. Upstream: CheckLimitsForResolvConf. */
import { EMPTY, type Observable, of, switchMap } from "rxjs";
import { searchLineFault } from "../../core/container/dns.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { resolverSettings } from "../resolverSettings.ts";

/** Emits an event of the Node when the file cannot be read or exceeds a limit, then completes. Never errors. */
export const checkResolvConf = (
  ports: Pick<KubeletPorts, "files">,
  config: Pick<KubeletConfig, "nodeName" | "resolvConfPath" | "clusterDomain">,
): Observable<KubeletEvent> =>
  resolverSettings({ ports, config }).pipe(
    switchMap((read) => {
      const settings = read.ok ? read.value : undefined;
      const found = settings && searchLineFault(config.resolvConfPath, settings, config.clusterDomain);
      const fault = read.ok ? found : read.error.message;
      return fault === undefined ? EMPTY : of(nodeEvent(config.nodeName, "CheckLimitsForResolvConf", fault, "Warning"));
    }),
  );
