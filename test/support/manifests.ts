/** Manifests for tests, and the reading of their text with a digest one can predict. */
import { epochMs } from "../../src/core/ids.ts";
import { type ManifestContext, type ManifestReading, readManifest } from "../../src/core/pod/manifest/readManifest.ts";
import { parseManifest } from "../../src/sources/parseManifest.ts";

/** Stands for a hash: the length and the sum of the character codes of the parts, as 32 digits. */
export function testDigest(parts: readonly string[]): string {
  let sum = 0;
  for (const part of parts) for (let i = 0; i < part.length; i += 1) sum = (sum * 31 + part.charCodeAt(i)) % 2 ** 40;
  return `${parts.join("").length}${sum}`.padStart(32, "0");
}

export const FILE_CONTEXT: ManifestContext = {
  source: "file",
  origin: "/manifests/pod.yaml",
  nodeName: "node-1",
  digest: testDigest,
  readAt: epochMs(1_767_225_600_000),
  preventApiReferences: true,
  standalone: true,
};

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export const readText = (text: string, context: Partial<ManifestContext> = {}): ManifestReading =>
  readManifest(parseManifest(bytesOf(text)), { ...FILE_CONTEXT, ...context });

/** A small valid pod as YAML. */
export const podYaml = (name: string, image = "app:1"): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: main\n    image: ${image}\n`;

/** The problems as one line of text each: `line field: reason`. */
export const problemLines = ({ problems }: Pick<ManifestReading, "problems">): readonly string[] =>
  problems.map(({ severity, line, field, reason }) => {
    const place = [line, field].filter((part) => part !== undefined).join(" ");
    return `${severity === "warning" ? "warning " : ""}${place}${place === "" ? "" : ": "}${reason}`;
  });
