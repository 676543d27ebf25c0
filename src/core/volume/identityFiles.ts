/**
 * Identity files of projected volumes: tokens, pod certificates and trust anchors. Upstream: collectData of
 * pkg/volume/projected.
 */
import type { Pod } from "../api.ts";
import {
  credentialFiles,
  type IssuedCredentials,
  podCertificateWish,
  type PodCertificateWish,
} from "../cert/podCertificate.ts";
import type { AnchorsWish } from "../cert/trustAnchors.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { TokenWish } from "../token/serviceAccountToken.ts";
import { fsUserOf } from "./fsUser.ts";
import type { Payload } from "./payloadFile.ts";
import type { Volume } from "./volumeLayout.ts";

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type TokenProjection = NonNullable<Projection["serviceAccountToken"]>;

/** Providers of the content; each returns the content or an error. */
export interface IdentitySources {
  readonly token: (wish: TokenWish) => Result<string>;
  readonly anchors: (wish: AnchorsWish) => Result<string>;
  readonly credentials: (wish: PodCertificateWish) => Result<IssuedCredentials>;
}

/** Mode of files that belong to another user than root. */
const PRIVATE_MODE = 0o600;
const TOKEN_SECONDS = 3600;
const utf8 = new TextEncoder();

const sourcesOf = ({ projected }: Volume): readonly Projection[] => projected?.sources ?? [];

/** Returns the token that a projection requests. */
function tokenWish(pod: Pod, { audience = "", expirationSeconds = TOKEN_SECONDS }: TokenProjection): TokenWish {
  const { namespace, name, uid } = pod.metadata;
  return {
    namespace,
    serviceAccount: pod.spec.serviceAccountName ?? "",
    audiences: audience === "" ? [] : [audience],
    expirationSeconds,
    pod: { name, uid },
  };
}

/** Returns the tokens that the volume needs. */
export const tokenWishes = (pod: Pod, volume: Volume): readonly TokenWish[] =>
  sourcesOf(volume).flatMap(({ serviceAccountToken: wanted }) =>
    wanted === undefined ? [] : [tokenWish(pod, wanted)],
  );

/** Returns the trust anchors that the volume needs. */
export const anchorsWishes = (volume: Volume): readonly AnchorsWish[] =>
  sourcesOf(volume).flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []);

/** Returns the files of the source with this index. */
export function identityFiles(
  pod: Pod,
  volume: Volume,
  index: number,
  defaultMode: number,
  sources: IdentitySources,
): Result<Payload> {
  const source = sourcesOf(volume)[index] ?? {};
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (serviceAccountToken !== undefined) {
    const token = sources.token(tokenWish(pod, serviceAccountToken));
    return token.ok ? ok(privateFiles(pod, [[serviceAccountToken.path, token.value]], defaultMode)) : token;
  }
  if (clusterTrustBundle !== undefined) {
    const anchors = sources.anchors(clusterTrustBundle);
    return anchors.ok ? ok(privateFiles(pod, [[clusterTrustBundle.path, anchors.value]], defaultMode)) : anchors;
  }
  if (podCertificate !== undefined) {
    const issued = sources.credentials(podCertificateWish(pod, volume, index, podCertificate));
    return issued.ok ? ok(privateFiles(pod, credentialFiles(podCertificate, issued.value), defaultMode)) : issued;
  }
  const [kind = "without a source"] = Object.keys(source);
  return err(kubeletError("Unimplemented", `projected source ${kind} is not served`, { reason: "FailedMount" }));
}

/** Builds files that only the pod's user can read, when all containers share one. */
function privateFiles(pod: Pod, texts: readonly (readonly [path: string, text: string])[], mode: number): Payload {
  const uid = fsUserOf(pod);
  const isPrivate = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  const more = { mode: isPrivate ? PRIVATE_MODE : mode, ...(uid === undefined ? {} : { uid }) };
  return new Map(texts.map(([path, text]) => [path, { content: utf8.encode(text), ...more }]));
}
