/**
 * The source of the serving certificate of the node's own server. Upstream: InitializeTLS in cmd/kubelet/app/server.go.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** Paths of a certificate and its key. */
export interface PairPaths {
  readonly certificate: string;
  readonly key: string;
}

/** The source of the serving certificate. */
export type ServingSource =
  /** The control plane signs it; until then the configured files are used, if any. */
  | { readonly kind: "signed"; readonly until: PairPaths | undefined }
  /** The user provides and rotates these files. */
  | { readonly kind: "files"; readonly paths: PairPaths }
  /** Created once and then reused. */
  | { readonly kind: "selfSigned"; readonly paths: PairPaths };

/** The relevant fields of the configuration, with absolute paths. */
export interface ServingSettings {
  readonly serverTLSBootstrap: boolean;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
}

/**
 * Returns the source; `certDir` is absolute. Errors: InvalidArgument for a certificate without a key, or the reverse.
 */
export function servingSource(
  { serverTLSBootstrap, tlsCertFile, tlsPrivateKeyFile }: ServingSettings,
  certDir: string,
): Result<ServingSource> {
  if ((tlsCertFile === "") !== (tlsPrivateKeyFile === "")) {
    const [given, absent] =
      tlsCertFile === "" ? ["tlsPrivateKeyFile", "tlsCertFile"] : ["tlsCertFile", "tlsPrivateKeyFile"];
    return err(kubeletError("InvalidArgument", `${given} is given without ${absent}: they must be supplied as a pair`));
  }
  const paths = tlsCertFile === "" ? undefined : { certificate: tlsCertFile, key: tlsPrivateKeyFile };
  if (serverTLSBootstrap) return ok({ kind: "signed", until: paths });
  if (paths !== undefined) return ok({ kind: "files", paths });
  return ok({ kind: "selfSigned", paths: { certificate: `${certDir}/kubelet.crt`, key: `${certDir}/kubelet.key` } });
}
