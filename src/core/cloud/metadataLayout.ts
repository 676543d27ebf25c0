/**
 * The metadata services of clouds: the paths to read, and the instance that their answers describe. Nothing of the user
 * data is read, which may hold secrets. Upstream: the metadata clients of its former cloud providers.
 */
import { isIPAddress, labelValueFault } from "../config/nodeNames.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import { addressKind, canonicalIp } from "../node/ipAddress.ts";
import { err, ok, type Result } from "../result.ts";
import type { CloudAddress, CloudInstance } from "./cloudInstance.ts";

/** Answers of a service by path; absent: the service has no such fact. */
export type MetadataAnswers = ReadonlyMap<string, string>;

export interface MetadataLayout {
  /** Whether each read needs a session token (IMDSv2). */
  readonly needsToken: boolean;
  /** In the order of their reading. */
  readonly paths: readonly string[];
  /** Returns the instance. Errors: InvalidArgument, naming the path and the reason. */
  readonly read: (answers: MetadataAnswers) => Result<CloudInstance>;
}

const INSTANCE_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i;
/** Longest text of an answer in a message. */
const MAX_SHOWN = 80;

/** Checked facts, and problems with others. */
class Facts {
  readonly problems: string[] = [];
  readonly #answers: MetadataAnswers;

  constructor(answers: MetadataAnswers) {
    this.#answers = answers;
  }

  /** Returns the fact; empty when there is none, or when it is wrong, which is a problem then. */
  text(path: string, faultOf: (text: string) => string | undefined, text = this.#answers.get(path) ?? ""): string {
    const fault = text === "" ? undefined : faultOf(text);
    if (fault === undefined) return text;
    this.problems.push(`${path}: ${fault}, got ${JSON.stringify(text.slice(0, MAX_SHOWN))}`);
    return "";
  }

  label = (path: string, text?: string): string => this.text(path, labelValueFault, text);
  ip = (path: string): string => this.text(path, ipFault);
  name = (path: string): string => this.text(path, nameFault);
  id = (path: string, text?: string): string => this.text(path, idFault, text);

  /**
   * Returns the instance when it has the `needed` facts, by path, and an internal address. A provider id never changes, so
   * that it must not be made of facts that are missing for a moment.
   */
  instance(needed: Readonly<Record<string, string>>, instance: Omit<CloudInstance, "problems">) {
    for (const [path, text] of Object.entries(needed)) if (text === "") return err(this.#missing(path));
    if (!instance.addresses.some(({ type }) => type === "InternalIP")) return err(this.#missing(EC2_IPV4));
    return ok({ ...instance, problems: this.problems });
  }

  #missing(path: string): KubeletError {
    const problem = this.problems.find((each) => each.startsWith(`${path}: `)) ?? `${path}: has no value`;
    return kubeletError("InvalidArgument", `the metadata service of the cloud: ${problem}`);
  }
}

function ipFault(text: string): string | undefined {
  if (!isIPAddress(text)) return "must be an IP address";
  const kind = addressKind(text);
  return kind === "usual" ? undefined : `must be an address that others can reach, but its kind is ${kind}`;
}
const nameFault = (text: string) => (HOST_NAME.test(text) ? undefined : "must be a host name");
const idFault = (text: string) => (INSTANCE_ID.test(text) ? undefined : "must be at most 64 letters, digits and -");

/** Drops absent addresses and repeated ones, which the API server refuses. */
const addressList = (all: readonly (readonly [type: string, address: string])[]): readonly CloudAddress[] => {
  const given = all.filter(([, address]) => address !== "");
  const form = (address: string): string => (isIPAddress(address) ? canonicalIp(address) : address);
  const distinct = new Map(given.map(([type, address]) => [`${type} ${form(address)}`, { type, address }]));
  return [...distinct.values()].map(({ type, address }) => ({ type, address: form(address) }));
};

const EC2 = "/latest/meta-data";
const EC2_ID = `${EC2}/instance-id`;
const EC2_IPV4 = `${EC2}/local-ipv4`;
const EC2_ZONE = `${EC2}/placement/availability-zone`;

/**
 * Instance metadata of EC2, version 2. Differs from upstream: reports the primary address of the primary interface alone,
 * because the others belong to pods on networks of the cloud.
 */
export const EC2_LAYOUT: MetadataLayout = {
  needsToken: true,
  paths: [
    ...[EC2_ID, EC2_IPV4, `${EC2}/ipv6`, `${EC2}/public-ipv4`, `${EC2}/local-hostname`, `${EC2}/public-hostname`],
    ...[`${EC2}/instance-type`, EC2_ZONE, `${EC2}/placement/region`],
  ],
  read(answers) {
    const facts = new Facts(answers);
    const zone = facts.label(EC2_ZONE);
    const id = facts.id(EC2_ID);
    // With several domain names of the network, the service lists a name in each.
    const hostname = facts.text(
      `${EC2}/local-hostname`,
      nameFault,
      (answers.get(`${EC2}/local-hostname`) ?? "").split(/\s+/)[0],
    );
    const addresses = addressList([
      ["InternalIP", facts.ip(EC2_IPV4)],
      ["InternalIP", facts.ip(`${EC2}/ipv6`)],
      ["ExternalIP", facts.ip(`${EC2}/public-ipv4`)],
      ["Hostname", hostname],
      ["InternalDNS", hostname],
      ["ExternalDNS", facts.name(`${EC2}/public-hostname`)],
    ]);
    const instanceType = facts.label(`${EC2}/instance-type`);
    const region = facts.label(`${EC2}/placement/region`);
    const providerId = `aws:///${zone}/${id}`;
    return facts.instance({ [EC2_ID]: id, [EC2_ZONE]: zone }, { providerId, addresses, instanceType, zone, region });
  },
};

const OPENSTACK = "/openstack/latest/meta_data.json";

/**
 * Metadata of OpenStack. Addresses and instance type come from its paths in the style of EC2: its own document has none.
 * Like upstream, the cloud names no host, since its names need not resolve.
 */
export const OPENSTACK_LAYOUT: MetadataLayout = {
  needsToken: false,
  paths: [OPENSTACK, EC2_IPV4, `${EC2}/public-ipv4`, `${EC2}/instance-type`],
  read(answers) {
    const facts = new Facts(answers);
    const document = parsedObject(answers.get(OPENSTACK));
    const field = (name: string): string => {
      const value = document[name];
      return typeof value === "string" ? value : "";
    };
    const id = facts.id(`${OPENSTACK}: uuid`, field("uuid"));
    const addresses = addressList([
      ["InternalIP", facts.ip(EC2_IPV4)],
      ["ExternalIP", facts.ip(`${EC2}/public-ipv4`)],
    ]);
    const zone = facts.label(`${OPENSTACK}: availability_zone`, field("availability_zone"));
    const instanceType = facts.label(`${EC2}/instance-type`);
    const instance = { providerId: `openstack:///${id}`, addresses, instanceType, zone, region: "" };
    return facts.instance({ [`${OPENSTACK}: uuid`]: id }, instance);
  },
};

function parsedObject(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Layouts by the value of `--cloud-metadata`. */
export const METADATA_LAYOUTS: Readonly<Record<string, MetadataLayout>> = {
  ec2: EC2_LAYOUT,
  openstack: OPENSTACK_LAYOUT,
};
