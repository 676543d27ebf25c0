/**
 * Files about pulled images: a record per image with the credentials that may use it, and an intent during a pull.
 * Names and JSON are upstream's, so that either kubelet can continue with the other's files.
 * Upstream: pkg/kubelet/images/pullmanager.
 */
import { goJson } from "../container/goJson.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { sha256 } from "../sha256.ts";
import type { CredentialSource, RegistryCredential } from "./dockerConfig.ts";

/** A pull secret that pulled an image, with the hash of its content at that time. */
export interface ImagePullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** A service account whose token pulled an image. */
export interface ImagePullServiceAccount {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials that may use an image under one name. */
export interface ImagePullCredentials {
  readonly kubernetesSecrets?: readonly ImagePullSecret[];
  readonly kubernetesServiceAccounts?: readonly ImagePullServiceAccount[];
  /** All pods may use it: it was pulled without credentials, or with those of the node. */
  readonly nodePodsAccessible?: boolean;
}

/** An image that a kubelet pulled. */
export interface ImagePulledRecord {
  /** RFC 3339, to the second. */
  readonly lastUpdatedTime: string;
  /** ID of the image in the runtime. */
  readonly imageRef: string;
  /**
   * Keys: names without tag and digest. Pods that use a missing name, or one without credentials, need a successful pull.
   */
  readonly credentialMapping: Readonly<Record<string, ImagePullCredentials>>;
}

const GROUP = "kubelet.config.k8s.io";
const API_VERSION = `${GROUP}/v1beta1`;
const READABLE = [API_VERSION, `${GROUP}/v1alpha1`];

/** Returns the file name of a record, from the image ID, or of an intent, from the image as the pod names it. */
export const pullFileName = (of: string): string => `sha256-${sha256(of)}`;

/** Returns true for records and intents, false for leftovers of an interrupted write. */
export const isPullFile = (name: string): boolean => /^sha256-[0-9a-f]{64}$/.test(name);

/** Returns upstream's hash of a credential, which allows comparison without storing it. */
const credentialHash = ({ username, password }: RegistryCredential): string =>
  sha256(goJson({ ...(username === "" ? {} : { username }), ...(password === "" ? {} : { password }) }));

const secretOf = ({ uid, namespace, name }: CredentialSource, credential: RegistryCredential): ImagePullSecret => ({
  uid,
  namespace,
  name,
  credentialHash: credentialHash(credential),
});

/**
 * Returns the credentials of a pod for a comparison: its pull secrets and its first service account. Credentials of the
 * node do not count.
 */
export function shownBy(credentials: readonly RegistryCredential[]): {
  readonly secrets: readonly ImagePullSecret[];
  readonly account: ImagePullServiceAccount | undefined;
} {
  const secrets = credentials.flatMap((credential) =>
    credential.source?.kind === "Secret" ? [secretOf(credential.source, credential)] : [],
  );
  const account = credentials.find(({ source }) => source?.kind === "ServiceAccount")?.source;
  return { secrets, account: account && { uid: account.uid, namespace: account.namespace, name: account.name } };
}

/** Returns who may use an image after a pull with this credential; undefined: a pull without credentials. */
export function credentialsUsed(used: RegistryCredential | undefined): ImagePullCredentials {
  if (used?.source === undefined) return { nodePodsAccessible: true };
  const { secrets, account } = shownBy([used]);
  return account === undefined ? { kubernetesSecrets: secrets } : { kubernetesServiceAccounts: [account] };
}

const inOrder = <T extends ImagePullServiceAccount>(all: readonly T[]): readonly T[] => {
  const byPlace = new Map(all.map((each) => [JSON.stringify([each.namespace, each.name, each.uid]), each]));
  return [...byPlace].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
};

function merged(known: ImagePullCredentials | undefined, more: ImagePullCredentials): ImagePullCredentials {
  if (known === undefined || known.nodePodsAccessible === true) return known ?? more;
  if (more.nodePodsAccessible === true) return { nodePodsAccessible: true };
  const secrets = inOrder([...(known.kubernetesSecrets ?? []), ...(more.kubernetesSecrets ?? [])]);
  const accounts = inOrder([...(known.kubernetesServiceAccounts ?? []), ...(more.kubernetesServiceAccounts ?? [])]);
  return {
    ...(secrets.length === 0 ? {} : { kubernetesSecrets: secrets }),
    ...(accounts.length === 0 ? {} : { kubernetesServiceAccounts: accounts }),
  };
}

/** Adds these credentials of a name to the record; returns the same object when nothing changes. */
export function withCredentials(
  record: ImagePulledRecord | undefined,
  pulled: {
    readonly imageRef: string;
    readonly repository: string;
    /** undefined: the credentials of the pull are unknown. */
    readonly credentials: ImagePullCredentials | undefined;
    readonly now: string;
  },
): ImagePulledRecord {
  const { imageRef, repository, credentials, now } = pulled;
  const known = record?.credentialMapping ?? {};
  if (credentials === undefined) return record ?? { lastUpdatedTime: now, imageRef, credentialMapping: {} };
  const after = merged(known[repository], credentials);
  if (record !== undefined && goJson(after) === goJson(known[repository] ?? {})) return record;
  return { lastUpdatedTime: now, imageRef, credentialMapping: { ...known, [repository]: after } };
}

/** Returns the file content of a record. */
export const encodePulledRecord = ({ lastUpdatedTime, imageRef, credentialMapping }: ImagePulledRecord): string => {
  const mapping = Object.keys(credentialMapping).length === 0 ? {} : { credentialMapping };
  return `${goJson({ kind: "ImagePulledRecord", apiVersion: API_VERSION, lastUpdatedTime, imageRef, ...mapping })}\n`;
};

/** Returns the file content of an intent. */
export const encodePullIntent = (image: string): string =>
  `${goJson({ kind: "ImagePullIntent", apiVersion: API_VERSION, image })}\n`;

function documentOf(kind: string, text: string): Readonly<Record<string, unknown>> | undefined {
  const found = parseJson(text);
  if (!isJsonObject(found) || found["kind"] !== kind) return undefined;
  return READABLE.includes(String(found["apiVersion"])) ? found : undefined;
}

/** Returns the image of an intent; undefined when the text is not an intent. */
export function decodePullIntent(text: string): string | undefined {
  const image = documentOf("ImagePullIntent", text)?.["image"];
  return typeof image === "string" ? image : undefined;
}

/** Parses a record; undefined when it is malformed or has content that this kubelet does not know. */
export function decodePulledRecord(text: string): ImagePulledRecord | undefined {
  const { lastUpdatedTime, imageRef, credentialMapping = {} } = documentOf("ImagePulledRecord", text) ?? {};
  if (typeof lastUpdatedTime !== "string" || typeof imageRef !== "string" || !isJsonObject(credentialMapping)) {
    return undefined;
  }
  const mapping = Object.entries(credentialMapping).map(([name, entry]) => [name, credentialsIn(entry)] as const);
  if (mapping.some(([, credentials]) => credentials === undefined)) return undefined;
  return { lastUpdatedTime, imageRef, credentialMapping: Object.fromEntries(mapping) as Record<string, object> };
}

function credentialsIn(entry: unknown): ImagePullCredentials | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { kubernetesSecrets, kubernetesServiceAccounts, nodePodsAccessible, ...others } = entry;
  const areRead =
    Object.keys(others).length === 0 &&
    areObjects(kubernetesSecrets, ["uid", "namespace", "name", "credentialHash"]) &&
    areObjects(kubernetesServiceAccounts, ["uid", "namespace", "name"]) &&
    (nodePodsAccessible === undefined || typeof nodePodsAccessible === "boolean");
  return areRead ? entry : undefined;
}

const areObjects = (list: unknown, fields: readonly string[]): boolean =>
  list === undefined ||
  (Array.isArray(list) &&
    list.every((each) => isJsonObject(each) && fields.every((field) => typeof each[field] === "string")));
