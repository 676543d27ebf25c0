/** Faults of the flags of the metadata service, which depend on each other. */
import { describe, expect, it } from "vitest";
import type { KubeletFlags } from "../../../src/cli/kubeletFlags.ts";
import { nodeFlagFaults } from "../../../src/cli/nodeFlagFaults.ts";
import { OWN_FLAGS } from "../../../src/cli/ownFlags.ts";
import { ownFlagValues } from "../../../src/cli/parseKubeletFlags.ts";

const defaults = ownFlagValues([], OWN_FLAGS) as unknown as KubeletFlags;
const faults = (cloudMetadataUrl: string): readonly string[] =>
  nodeFlagFaults({ ...defaults, kubeconfig: "/kubelet.conf", cloudMetadata: "ec2", cloudMetadataUrl });

describe("--cloud-metadata-url", () => {
  it.each(["", "http://169.254.169.254", "http://[fd00:ec2::254]", "https://metadata.example:8443/"])(
    "may be %j",
    (url) => expect(faults(url)).toEqual([]),
  );

  it.each([
    ...[
      "169.254.169.254",
      "file:///etc/passwd",
      "http://",
      "http://host/path",
      "http://host?query",
      "http://host#part",
    ],
    ...["http://user:secret@host", "http://host:99999", "http://a b", "http://[::1", "ftp://host"],
  ])("must not be %j", (url) => {
    expect(faults(url)).toEqual([
      `--cloud-metadata-url: must be http(s)://host:port without a path, got ${JSON.stringify(url)}`,
    ]);
  });
});
