import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { hostNetworkHostsFile, podHostsFile } from "../../../../src/core/container/hosts.ts";
import { kernelHostname, podHostname } from "../../../../src/core/container/hostname.ts";
import { dnsLabel, dnsSubdomain } from "../../../../src/core/pod/validateFormats.ts";
import { podOf } from "../../../support/pods.ts";

const hostname = (spec: Partial<PodSpec>, name = "plain") => podHostname(podOf({ name, spec }), "cluster.local");
const ok = <T>(value: T) => ({ ok: true, value });
const refused = (why: string) => ({
  ok: false,
  error: { code: "InvalidArgument", reason: "InvalidArgument", message: why, retryable: false },
});

describe("podHostname", () => {
  it.each<[string, Partial<PodSpec>, string, object]>([
    ["is the pod's name", {}, "plain", { hostname: "plain", domain: "" }],
    ["or what the spec says", { hostname: "web" }, "plain", { hostname: "web", domain: "" }],
    [
      "has a domain with a subdomain",
      { subdomain: "sub" },
      "plain",
      { hostname: "plain", domain: "sub.demo.svc.cluster.local" },
    ],
    [
      "is cut to 63 characters, no dash or dot at its end",
      {},
      `${"a".repeat(62)}-b`,
      { hostname: "a".repeat(62), domain: "" },
    ],
    ["is not cut at 63 characters", {}, `${"a".repeat(62)}-`, { hostname: `${"a".repeat(62)}-`, domain: "" }],
    [
      "an override may have dots and has no domain",
      { hostnameOverride: "a.b", subdomain: "s" },
      "plain",
      { hostname: "a.b", domain: "" },
    ],
  ])("%s", (_, spec, name, expected) => {
    expect(hostname(spec, name)).toEqual(ok(expected));
  });

  it.each<[Partial<PodSpec>, string]>([
    [{ hostname: "No.Label" }, `pod Hostname "No.Label" is not a valid DNS label: ${dnsLabel("No.Label").join(";")}`],
    [
      { hostname: `-${"X".repeat(63)}` },
      `pod Hostname "-${"X".repeat(63)}" is not a valid DNS label: ${dnsLabel(`-${"X".repeat(63)}`).join(";")}`,
    ],
    [{ subdomain: "-x" }, `pod Subdomain "-x" is not a valid DNS label: ${dnsLabel("-x").join(";")}`],
    [
      { hostnameOverride: "a..b" },
      `pod HostnameOverride "a..b" is not a valid DNS subdomain: ${dnsSubdomain("a..b").join(";")}`,
    ],
  ])("rejects %j", (spec, why) => {
    expect(hostname(spec)).toEqual(refused(why));
  });

  it("rejects a name that becomes empty when it is cut", () => {
    const name = "-".repeat(64);
    expect(hostname({}, name)).toEqual(refused(`hostname for pod "${name}" was invalid: "${name}"`));
  });
});

describe("kernelHostname", () => {
  const asFqdn = podOf({ spec: { setHostnameAsFQDN: true } });

  it("is short unless the pod requests its FQDN and has a domain", () => {
    const name = { hostname: "web", domain: "sub.demo" };
    expect(kernelHostname(podOf(), name)).toEqual(ok("web"));
    expect(kernelHostname(asFqdn, name)).toEqual(ok("web.sub.demo"));
    expect(kernelHostname(asFqdn, { ...name, domain: "" })).toEqual(ok("web"));
  });

  it("is rejected beyond the kernel's 64 characters", () => {
    const fqdn = `web.${"d".repeat(61)}`;
    expect(kernelHostname(asFqdn, { hostname: "web", domain: "d".repeat(60) })).toEqual(ok(`web.${"d".repeat(60)}`));
    expect(kernelHostname(asFqdn, { hostname: "web", domain: "d".repeat(61) })).toEqual(
      refused(
        `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
          "(64 characters is the max, 65 characters requested)",
      ),
    );
  });
});

const FIXED =
  "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n" +
  "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n";
const hostAliases = [{ ip: "192.0.2.7", hostnames: ["one", "two"] }];
const ALIASES = "\n# Entries added by HostAliases.\n192.0.2.7\tone\ttwo\n";

describe("hosts file", () => {
  it("lists the pod for each of its IPs", () => {
    expect(podHostsFile(podOf(), ["10.1.0.5", "2001:db8::5"], { hostname: "web", domain: "" })).toBe(
      `# Kubernetes-managed hosts file.\n${FIXED}10.1.0.5\tweb\n2001:db8::5\tweb\n`,
    );
  });

  it("has the FQDN first, and the pod's host aliases last", () => {
    expect(podHostsFile(podOf({ spec: { hostAliases } }), ["10.1.0.5"], { hostname: "web", domain: "sub.demo" })).toBe(
      `# Kubernetes-managed hosts file.\n${FIXED}10.1.0.5\tweb.sub.demo\tweb\n${ALIASES}`,
    );
  });

  it("is the node's file and the pod's host aliases on the host network", () => {
    expect(hostNetworkHostsFile(podOf({ spec: { hostAliases } }), "127.0.0.1 node-1\n")).toBe(
      `# Kubernetes-managed hosts file (host network).\n127.0.0.1 node-1\n${ALIASES}`,
    );
  });
});
