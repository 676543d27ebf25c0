/**
 * Reads the file, or all .json, .yaml and .yml files of the directory, of --image-credential-provider-config, and
 * checks that the plugins exist. Returns all errors at once, each with file, line and field.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import { formatFieldPath } from "../core/config/configProblem.ts";
import { type CredentialProvider, readCredentialProviders } from "../core/image/credentialProviderConfig.ts";
import { type ConfigReaders, directoryReader } from "./configReaders.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";
import type { CredentialPluginOptions } from "./kubeletOptions.ts";
import { readYamlDocument } from "./yamlDocument.ts";

/** The plugins, undefined when no flag configures any; or all errors. */
export type LoadedProviders =
  | { readonly ok: true; readonly plugins: CredentialPluginOptions | undefined }
  | { readonly ok: false; readonly errors: readonly string[] };

type Flags = Pick<KubeletFlags, "imageCredentialProviderConfig" | "imageCredentialProviderBinDir">;

const CONFIG_FLAG = "--image-credential-provider-config";
const BIN_FLAG = "--image-credential-provider-bin-dir";
const EXTENSIONS = [".json", ".yaml", ".yml"];

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Loads them; `tokensAllowed`: whether the gate for tokens is on. Never rejects. */
export async function loadCredentialProviders(
  { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: directory }: Flags,
  readers: ConfigReaders,
  tokensAllowed: boolean,
): Promise<LoadedProviders> {
  if (config === "" && directory === "") return { ok: true, plugins: undefined };
  if (config === "") return { ok: false, errors: [`${BIN_FLAG}: needs ${CONFIG_FLAG}`] };
  if (directory === "") return { ok: false, errors: [`${CONFIG_FLAG}: needs ${BIN_FLAG}`] };
  const read = await readTexts(config, readers);
  if (!read.ok) return read;
  const errors: string[] = [];
  const providers = new Map<string, CredentialProvider>();
  for (const { file, text } of read.texts) {
    const decoded = decode(file, text, tokensAllowed);
    errors.push(...decoded.errors);
    for (const [index, provider] of decoded.providers.entries()) {
      if (provider.name === "") continue;
      if (providers.has(provider.name)) {
        errors.push(`${file}: providers[${index}].name: ${JSON.stringify(provider.name)} is a duplicate`);
      }
      providers.set(provider.name, provider);
    }
  }
  if (errors.length === 0) errors.push(...(await faultsOfPrograms(directory, [...providers.keys()], readers)));
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, plugins: { directory, hash: hashOf(read.texts), providers: [...providers.values()] } };
}

interface FileText {
  readonly file: string;
  readonly text: string;
}

type ReadTexts =
  | { readonly ok: true; readonly texts: readonly FileText[] }
  | { readonly ok: false; readonly errors: readonly string[] };

async function readTexts(config: string, readers: ConfigReaders): Promise<ReadTexts> {
  const failure = (reason: string): ReadTexts => ({ ok: false, errors: [`${CONFIG_FLAG}: ${config}: ${reason}`] });
  try {
    const isDirectory = (await readers.look(config)) === "directory";
    const files = isDirectory ? (await readers.listFiles(config)).filter((file) => isConfig(config, file)) : [config];
    if (files.length === 0) return failure(`has no file that ends in ${EXTENSIONS.join(", ")}`);
    const texts: FileText[] = [];
    const readText = directoryReader(readers);
    for (const file of files) texts.push({ file, text: await readText(file) });
    return { ok: true, texts };
  } catch (thrown) {
    return failure(`cannot be read: ${messageOf(thrown)}`);
  }
}

const isConfig = (directory: string, file: string): boolean =>
  path.relative(directory, file) === path.basename(file) && EXTENSIONS.includes(path.extname(file));

interface Decoded {
  readonly providers: readonly CredentialProvider[];
  readonly errors: readonly string[];
}

function decode(file: string, text: string, tokensAllowed: boolean): Decoded {
  const { wire, syntaxErrors, locate } = readYamlDocument(file, text);
  if (syntaxErrors.length > 0) return { providers: [], errors: syntaxErrors };
  const { providers, problems } = readCredentialProviders(wire, tokensAllowed);
  const errors = problems.map(({ path: field, reason }) => {
    const where = formatFieldPath(field);
    return `${file}:${locate(field).line}: ${where === "" ? "" : `${where}: `}${reason}`;
  });
  return { providers, errors };
}

async function faultsOfPrograms(
  directory: string,
  names: readonly string[],
  readers: ConfigReaders,
): Promise<readonly string[]> {
  if ((await readers.look(directory)) !== "directory") return [`${BIN_FLAG}: ${directory} is not a directory`];
  const faults: string[] = [];
  for (const name of names) {
    const program = path.join(directory, name);
    const kind = await readers.look(program);
    if (kind === undefined) faults.push(`${BIN_FLAG}: plugin binary executable ${program} did not exist`);
    else if (kind !== "program") faults.push(`${BIN_FLAG}: ${program} is not an executable file`);
  }
  return faults;
}

/** Hashes all files, each after its length, as upstream does, so that dashboards can compare both. */
function hashOf(texts: readonly FileText[]): string {
  const hash = createHash("sha256");
  for (const { text } of texts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    hash.update(length).update(text);
  }
  return `sha256:${hash.digest("hex")}`;
}
