/**
 * Reads a kubeconfig and the files it names. Returns all errors at once, each with file, line and field. Also checks
 * that certificate and key match, so that a wrong pair fails the start and not the first request.
 */
import path from "node:path";
import { createSecureContext } from "node:tls";
import type { ClientConfig, TextSource } from "../core/api/clientConfig.ts";
import type { FoundText } from "../core/api/fieldReader.ts";
import { decodeKubeconfig, type Kubeconfig } from "../core/api/kubeconfig.ts";
import { type ConfigProblem, formatFieldPath } from "../core/config/configProblem.ts";
import type { ConfigReaders } from "./configReaders.ts";
import { readYamlDocument, type YamlDocument } from "./yamlDocument.ts";

/** The client configuration, or all errors. */
export type LoadedKubeconfig =
  | { readonly ok: true; readonly client: ClientConfig }
  | { readonly ok: false; readonly errors: readonly string[] };

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Loads the file that a flag names. Never rejects. */
export async function loadKubeconfig(flag: string, file: string, readers: ConfigReaders): Promise<LoadedKubeconfig> {
  let text: string;
  try {
    text = await readers.readText(file);
  } catch (thrown) {
    return { ok: false, errors: [`--${flag}: ${file}: cannot be read: ${messageOf(thrown)}`] };
  }
  const document = readYamlDocument(file, text);
  if (document.syntaxErrors.length > 0) return { ok: false, errors: document.syntaxErrors };
  const directory = path.dirname(file);
  const decoded = decodeKubeconfig(document.wire, (name) => path.resolve(directory, name));
  if (!decoded.ok) return { ok: false, errors: decoded.problems.map((problem) => lineOf(document, problem)) };
  const { client, problems } = await readFiles(decoded.value, readers);
  if (problems.length > 0) return { ok: false, errors: problems.map((problem) => lineOf(document, problem)) };
  return { ok: true, client };
}

const lineOf = ({ file, locate }: YamlDocument, { path: field, reason }: ConfigProblem): string =>
  `${file}:${locate(field).line}: ${formatFieldPath(field)}${field.length === 0 ? "" : ": "}${reason}`;

/** The client configuration, as far as its files could be read. */
interface ReadFiles {
  readonly client: ClientConfig;
  readonly problems: readonly ConfigProblem[];
}

async function readFiles(config: Kubeconfig, readers: ConfigReaders): Promise<ReadFiles> {
  const problems: ConfigProblem[] = [];
  const read = async (found: FoundText): Promise<string | undefined> => {
    if ("text" in found.source) return found.source.text;
    try {
      return await readers.readText(found.source.file);
    } catch (thrown) {
      problems.push({ path: found.path, reason: `cannot be read: ${messageOf(thrown)}` });
      return undefined;
    }
  };
  const attempt = (found: FoundText, options: Parameters<typeof createSecureContext>[0]): void => {
    try {
      createSecureContext(options);
    } catch (thrown) {
      problems.push({ path: found.path, reason: `cannot be used: ${messageOf(thrown)}` });
    }
  };
  const { certificateAuthority, certificate, proof } = config;
  const ca = certificateAuthority === undefined ? undefined : await read(certificateAuthority);
  if (certificateAuthority !== undefined && ca !== undefined) attempt(certificateAuthority, { ca });
  const cert = certificate === undefined ? undefined : await read(certificate.certificate);
  const key = certificate === undefined ? undefined : await read(certificate.key);
  if (certificate !== undefined && cert !== undefined && key !== undefined)
    attempt(certificate.certificate, { cert, key });
  if (proof.kind === "tokenFile") {
    const found = { source: { file: proof.file }, path: config.proofPath };
    if ((await read(found))?.trim() === "") problems.push({ path: found.path, reason: `${proof.file} is empty` });
  }
  const sourceOf = ({ source }: FoundText): TextSource => source;
  const client: ClientConfig = {
    endpoint: {
      server: config.server,
      certificateAuthority: ca,
      tlsServerName: config.tlsServerName,
      insecureSkipTlsVerify: config.insecureSkipTlsVerify,
      proxyUrl: config.proxyUrl,
    },
    authority: certificateAuthority === undefined ? undefined : sourceOf(certificateAuthority),
    certificate:
      certificate === undefined
        ? undefined
        : { certificate: sourceOf(certificate.certificate), key: sourceOf(certificate.key) },
    identity: cert === undefined || key === undefined ? undefined : { certificate: cert, key },
    proof,
  };
  return { client, problems };
}
