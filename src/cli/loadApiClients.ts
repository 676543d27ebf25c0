/**
 * Loads the credentials for the API server: those of the kubeconfig while its certificate is valid, else those of the
 * bootstrap kubeconfig, with which the node requests a certificate. Upstream: LoadClientConfig and
 * isClientConfigStillValid in pkg/kubelet/certificate/bootstrap.
 */
import { X509Certificate } from "node:crypto";
import path from "node:path";
import type { ClientConfig } from "../core/api/clientConfig.ts";
import { currentPairPath } from "../core/cert/pemFile.ts";
import type { ConfigReaders } from "./configReaders.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";
import { loadKubeconfig } from "./loadKubeconfig.ts";

/** The clients of both kubeconfigs; both undefined on a standalone node and after errors. */
export interface ApiClients {
  readonly client: ClientConfig | undefined;
  readonly bootstrap: ClientConfig | undefined;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const NONE: ApiClients = { client: undefined, bootstrap: undefined, errors: [], warnings: [] };

/** Returns why the client certificate of a kubeconfig is unusable; undefined when it is valid. */
function unusable({ identity }: ClientConfig): string | undefined {
  if (identity === undefined) return "it has no client certificate";
  const { validTo, validToDate } = new X509Certificate(identity.certificate);
  return validToDate.getTime() < Date.now() ? `its client certificate expired at ${validTo}` : undefined;
}

/** Loads the files in the flags. Never rejects. */
export async function loadApiClients(
  { kubeconfig, bootstrapKubeconfig, certDir }: Pick<KubeletFlags, "kubeconfig" | "bootstrapKubeconfig" | "certDir">,
  readers: ConfigReaders,
): Promise<ApiClients> {
  if (kubeconfig === "") {
    const ignored = "--bootstrap-kubeconfig is ignored without --kubeconfig: the node runs standalone";
    return { ...NONE, warnings: bootstrapKubeconfig === "" ? [] : [ignored] };
  }
  const own = await loadKubeconfig("kubeconfig", kubeconfig, readers);
  if (bootstrapKubeconfig === "") return own.ok ? { ...NONE, client: own.client } : { ...NONE, errors: own.errors };
  const loaded = await loadKubeconfig("bootstrap-kubeconfig", bootstrapKubeconfig, readers);
  const bootstrap = loaded.ok ? loaded.client : undefined;
  const problem = own.ok ? unusable(own.client) : own.errors.join("; ");
  // The bootstrap kubeconfig may be removed once the node has its own, as kubeadm does.
  if (own.ok && problem === undefined) return { ...NONE, client: own.client, bootstrap };
  if (!loaded.ok) {
    const useless = `--kubeconfig: ${kubeconfig} cannot be used, and neither can the bootstrap kubeconfig: ${problem}`;
    return { ...NONE, errors: [useless, ...loaded.errors] };
  }
  const pair = { file: currentPairPath(path.resolve(certDir), "kubelet-client") };
  return {
    client: {
      ...loaded.client,
      certificate: { certificate: pair, key: pair },
      identity: undefined,
      proof: { kind: "none" },
    },
    bootstrap,
    errors: [],
    warnings: [`the client certificate is requested with the bootstrap kubeconfig: ${problem}`],
  };
}
