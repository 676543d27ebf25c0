/** Answers of metadata services, and the instances they describe. */
import type { CloudInstance } from "../../src/core/cloud/cloudInstance.ts";

const EC2 = "/latest/meta-data";

export const EC2_ANSWERS: Readonly<Record<string, string>> = {
  [`${EC2}/instance-id`]: "i-0123456789abcdef0",
  [`${EC2}/local-ipv4`]: "192.0.2.10",
  [`${EC2}/ipv6`]: "2001:db8::10",
  [`${EC2}/public-ipv4`]: "198.51.100.7",
  [`${EC2}/local-hostname`]: "ip-192-0-2-10.example.internal ip-192-0-2-10.other.internal",
  [`${EC2}/public-hostname`]: "ec2-198-51-100-7.example.com",
  [`${EC2}/instance-type`]: "m7g.large",
  [`${EC2}/placement/availability-zone`]: "eu-example-1a",
  [`${EC2}/placement/region`]: "eu-example-1",
};

export const EC2_INSTANCE: CloudInstance = {
  providerId: "aws:///eu-example-1a/i-0123456789abcdef0",
  addresses: [
    { type: "InternalIP", address: "192.0.2.10" },
    { type: "InternalIP", address: "2001:db8::10" },
    { type: "ExternalIP", address: "198.51.100.7" },
    { type: "Hostname", address: "ip-192-0-2-10.example.internal" },
    { type: "InternalDNS", address: "ip-192-0-2-10.example.internal" },
    { type: "ExternalDNS", address: "ec2-198-51-100-7.example.com" },
  ],
  instanceType: "m7g.large",
  zone: "eu-example-1a",
  region: "eu-example-1",
  problems: [],
};

export const OPENSTACK_ANSWERS: Readonly<Record<string, string>> = {
  "/openstack/latest/meta_data.json": JSON.stringify({
    uuid: "6e2f4a0c-0000-4000-8000-0123456789ab",
    availability_zone: "nova",
    hostname: "vm.novalocal",
    public_keys: { mine: "ssh-ed25519 AAAA" },
  }),
  [`${EC2}/local-ipv4`]: "192.0.2.20",
  [`${EC2}/public-ipv4`]: "",
  [`${EC2}/instance-type`]: "m1.small",
};

export const OPENSTACK_INSTANCE: CloudInstance = {
  providerId: "openstack:///6e2f4a0c-0000-4000-8000-0123456789ab",
  addresses: [{ type: "InternalIP", address: "192.0.2.20" }],
  instanceType: "m1.small",
  zone: "nova",
  region: "",
  problems: [],
};
