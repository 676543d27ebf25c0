/** Where the certificate of the node's own server is from. Counterpart: InitializeTLS in cmd/kubelet/app/server.go. */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** A certificate and its key, as paths. */
export interface PairPaths {
  readonly certificate: string;
  readonly key: string;
}

export type ServingSource =
  /** The control plane signs it; until then what the files have, if they are named. */
  | { readonly kind: "signed"; readonly until: PairPaths | undefined }
  /** Somebody else keeps these files. */
  | { readonly kind: "files"; readonly paths: PairPaths }
  /** Made once, used from then on. */
  | { readonly kind: "selfSigned"; readonly paths: PairPaths };

/** The configuration's fields that say so, with paths made absolute. */
export interface ServingSettings {
  readonly serverTLSBootstrap: boolean;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
}

/** `certDir` is absolute. Errors: InvalidArgument for a certificate without key, or a key without certificate. */
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
