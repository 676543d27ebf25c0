/**
 * What is kept on disk of pulled images: a record for each, with who may use it, and an intent while a pull is under way.
 * Names and JSON are upstream's, so that either kubelet goes on with what the other wrote. Counterpart:
 * pkg/kubelet/images/pullmanager.
 */
import { goJson } from "../container/goJson.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { sha256 } from "../sha256.ts";
import type { CredentialSource, RegistryCredential } from "./dockerConfig.ts";

/** A pull secret that an image was pulled with, and the hash of what it held then. */
export interface ImagePullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

export interface ImagePullServiceAccount {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Who may use an image under one name. */
export interface ImagePullCredentials {
  readonly kubernetesSecrets?: readonly ImagePullSecret[];
  readonly kubernetesServiceAccounts?: readonly ImagePullServiceAccount[];
  /** Every pod: it was pulled without credentials, or with those of the node. */
  readonly nodePodsAccessible?: boolean;
}

/** An image that a kubelet pulled. */
export interface ImagePulledRecord {
  /** RFC 3339, in seconds. */
  readonly lastUpdatedTime: string;
  /** Id of the image in the runtime. */
  readonly imageRef: string;
  /** By name without tag and digest. A name that is missing, or has none, needs a pull that works. */
  readonly credentialMapping: Readonly<Record<string, ImagePullCredentials>>;
}

const GROUP = "kubelet.config.k8s.io";
const API_VERSION = `${GROUP}/v1beta1`;
const READABLE = [API_VERSION, `${GROUP}/v1alpha1`];

/** What a record or intent is called, by the id of the image, or the image as the pod names it. */
export const pullFileName = (of: string): string => `sha256-${sha256(of)}`;

/** True for files that are records or intents, and not what is left of writing one. */
export const isPullFile = (name: string): boolean => /^sha256-[0-9a-f]{64}$/.test(name);

/** The hash of a credential as upstream makes it, to compare without keeping it. */
const credentialHash = ({ username, password }: RegistryCredential): string =>
  sha256(goJson({ ...(username === "" ? {} : { username }), ...(password === "" ? {} : { password }) }));

const secretOf = ({ uid, namespace, name }: CredentialSource, credential: RegistryCredential): ImagePullSecret => ({
  uid,
  namespace,
  name,
  credentialHash: credentialHash(credential),
});

/** What a pod has to show: its pull secrets, and its first service account; credentials of the node do not count. */
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

/** Who may use an image after a pull that worked with this; undefined: without any. */
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

/** The record with these credentials for a name too; the same object when that is nothing new. */
export function withCredentials(
  record: ImagePulledRecord | undefined,
  pulled: {
    readonly imageRef: string;
    readonly repository: string;
    /** undefined: nobody knows with what it was pulled. */
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

/** The content of a record. */
export const encodePulledRecord = ({ lastUpdatedTime, imageRef, credentialMapping }: ImagePulledRecord): string => {
  const mapping = Object.keys(credentialMapping).length === 0 ? {} : { credentialMapping };
  return `${goJson({ kind: "ImagePulledRecord", apiVersion: API_VERSION, lastUpdatedTime, imageRef, ...mapping })}\n`;
};

/** The content of an intent. */
export const encodePullIntent = (image: string): string =>
  `${goJson({ kind: "ImagePullIntent", apiVersion: API_VERSION, image })}\n`;

function documentOf(kind: string, text: string): Readonly<Record<string, unknown>> | undefined {
  const found = parseJson(text);
  if (!isJsonObject(found) || found["kind"] !== kind) return undefined;
  return READABLE.includes(String(found["apiVersion"])) ? found : undefined;
}

/** The image of an intent; undefined: this is none. */
export function decodePullIntent(text: string): string | undefined {
  const image = documentOf("ImagePullIntent", text)?.["image"];
  return typeof image === "string" ? image : undefined;
}

/** A record; undefined: this is none, or not one this kubelet understands in full. */
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
