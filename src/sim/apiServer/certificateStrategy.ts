/**
 * Strategy of certificate signing requests: the server sets the requesting user; approval and certificate come by
 * requests of their own. The content of a request is not parsed: the simulation has no cryptography. Upstream:
 * validation of certificates.k8s.io.
 */
import {
  duplicate,
  type FieldProblem,
  invalid,
  required,
  unsupported as notSupported,
} from "../../core/pod/fieldProblem.ts";
import { userName } from "./identity.ts";
import { fieldAt, type ApiObject } from "../../core/apiObjects/storedObject.ts";
import type { Strategy } from "./strategy.ts";

const USAGES: readonly string[] = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const SIGNER = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\/[^/]+(\/[^/]+)*$/;
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const SHORTEST_SECONDS = 600;

function* problems({ metadata, ...object }: ApiObject): Iterable<FieldProblem> {
  const { name = "" } = metadata ?? {};
  if (name === "." || name === "..") yield invalid("metadata.name", name, `may not be '${name}'`);
  const { request, signerName, usages, expirationSeconds } = (object["spec"] ?? {}) as {
    readonly request?: string;
    readonly signerName?: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
  if (request === undefined) yield required("spec.request");
  if (usages === undefined || usages.length === 0) yield required("spec.usages");
  for (const [index, usage] of (usages ?? []).entries()) {
    if (!USAGES.includes(usage)) yield notSupported(`spec.usages[${index}]`, usage, USAGES);
    if (usages?.indexOf(usage) !== index) yield duplicate(`spec.usages[${index}]`, usage);
  }
  if (signerName === undefined) yield required("spec.signerName");
  else if (signerName === LEGACY_SIGNER) {
    yield invalid("spec.signerName", signerName, "the legacy signerName is not allowed via this API version");
  } else if (!SIGNER.test(signerName)) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    yield invalid("spec.signerName", signerName, why);
  }
  if (expirationSeconds !== undefined && expirationSeconds < SHORTEST_SECONDS) {
    const why = "may not specify a duration less than 600 seconds (10 minutes)";
    yield invalid("spec.expirationSeconds", expirationSeconds, why);
  }
}

/** The strategy of certificate signing requests. */
export const certificateStrategy: Strategy = {
  unconditionalUpdate: true,
  createOnUpdate: false,
  subresources: ["status", "approval"],
  prepareCreate: ({ status: _status, ...object }, identity) => ({
    ...object,
    spec: { ...(object["spec"] as object), username: userName(identity) },
    status: {},
  }),
  prepareUpdate(object, old, subresource) {
    if (subresource === undefined) return { ...old, metadata: object.metadata };
    const part = subresource === "approval" ? "conditions" : "certificate";
    const status = { ...(old["status"] as object), [part]: fieldAt(object, `status.${part}`) };
    return { ...old, metadata: object.metadata, status };
  },
  validateCreate: (object) => [...problems(object)],
  validateUpdate: () => [],
};
