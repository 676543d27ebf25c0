/** A registry on the loopback interface, which Docker trusts without TLS: one image, for who has the password. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ImageArchive } from "./images.ts";

/** See the file header. */
export interface ImageRegistry {
  /** `127.0.0.1:port` */
  readonly host: string;
  /** Digest of the image's manifest. */
  readonly digest: string;
  readonly username: string;
  readonly password: string;
  close(): Promise<void>;
}

const BLOCK = 512;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** Serves the image under the name `private/app` and every tag. */
export async function startImageRegistry({ archive }: ImageArchive): Promise<ImageRegistry> {
  const files = filesOf(archive);
  const index = JSON.parse(String(files.get("index.json"))) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  const digest = index.manifests[0]?.digest ?? "";
  const [username, password] = ["tester", "pass:word"];
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== authorization) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="tests"' }).end();
    }
    const [, kind, reference = ""] =
      /^\/v2\/private\/app\/(manifests|blobs)\/([\w:.-]+)$/.exec(request.url ?? "") ?? [];
    const wanted = kind === "manifests" && !reference.startsWith("sha256:") ? digest : reference;
    const content = files.get(`blobs/${wanted.replace(":", "/")}`);
    if (request.url === "/v2/") return void response.end("{}");
    if (content === undefined) return void response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": kind === "manifests" ? MANIFEST : "application/octet-stream",
      "content-length": content.length,
      "docker-content-digest": `sha256:${createHash("sha256").update(content).digest("hex")}`,
    });
    response.end(request.method === "HEAD" ? undefined : content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    digest,
    username,
    password,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The files of a tar archive as `tarArchive` writes it. */
function filesOf(archive: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== 0 && at < archive.length; ) {
    const field = (offset: number, length: number): string =>
      archive.toString("utf8", at + offset, at + offset + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8);
    files.set(field(0, 100), archive.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
