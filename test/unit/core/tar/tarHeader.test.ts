import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import {
  readTarExtension,
  readTarHeader,
  TAR_BLOCK,
  type TarEntry,
  tarHeader,
} from "../../../../src/core/tar/tarHeader.ts";
import { tarEntries, type TarItem } from "../../../../src/commands/tarEntries.ts";

const FILE: TarEntry = { kind: "file", path: "a/b", size: 0, mode: 0o640, target: "" };
const END = new Uint8Array(2 * TAR_BLOCK);

async function read(...parts: readonly Uint8Array[]) {
  const found: (Omit<TarItem, "content"> & { text: string })[] = [];
  const source = (async function* () {
    // In pieces, as a connection delivers them.
    for (const part of parts) for (let at = 0; at < part.length; at += 100) yield part.subarray(at, at + 100);
  })();
  for await (const { content, ...header } of tarEntries(source)) {
    let text = "";
    for await (const part of content) text += Buffer.from(part).toString();
    found.push({ ...header, text });
  }
  return found;
}

it.each<[string, Partial<TarEntry>]>([
  ["a file", {}],
  ["a directory", { kind: "directory" }],
  ["a link", { kind: "link", target: "../c" }],
  ["a path of 100 bytes", { path: "p".repeat(100) }],
  ["a path of 101 bytes", { path: "p".repeat(101) }],
  ["a path of many bytes in other letters", { path: "\u00fc/".repeat(1_000) + "\u00fc" }],
  ["a long target", { kind: "link", target: "t".repeat(999) }],
])("reads %s as it was written", async (_title, more) => {
  const entry = { ...FILE, ...more };
  const [found] = await read(tarHeader(entry), END);
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  expect(found).toMatchObject({ kind: entry.kind, path, mode: entry.mode, target: entry.target });
});

it("writes sizes beyond eight GiB", () => {
  const size = 2 ** 40;
  const bytes = tarHeader({ ...FILE, size });
  const extended = readTarHeader(bytes.subarray(0, TAR_BLOCK));
  if (typeof extended !== "object") throw new Error("no header");
  expect(readTarExtension(extended, bytes.subarray(TAR_BLOCK, TAR_BLOCK + extended.size))).toEqual({ size });
});

it("writes what tar reads", () => {
  const long = `${"d".repeat(90)}/${"f".repeat(90)}`;
  const archive = Buffer.concat([
    tarHeader({ ...FILE, path: long, size: 3 }),
    Buffer.from("abc").subarray(0, 3),
    Buffer.alloc(TAR_BLOCK - 3),
    tarHeader({ ...FILE, kind: "link", path: "link", target: "a" }),
    END,
  ]);
  const listed = execFileSync("tar", ["tf", "-"], { input: archive }).toString();
  expect(listed).toBe(`${long}\nlink\n`);
  expect(execFileSync("tar", ["xOf", "-", long], { input: archive }).toString()).toBe("abc");
});

it.each(["ustar", "pax", "gnu", "v7"])("reads archives of tar in the format %s", async (format) => {
  const name = format === "v7" ? "short" : "n".repeat(format === "ustar" ? 99 : 150);
  const script = `cd "$(mktemp -d)" && mkdir d && echo hello > d/${name} && ln -s ${name} d/l && tar --format=${format} -cf - d; rm -r "$PWD"`;
  const archive = execFileSync("sh", ["-c", script]);
  const found = await read(archive);
  expect(found.map(({ kind, path, text }) => [kind, path, text]).toSorted()).toEqual(
    [
      ["directory", "d/", ""],
      ["file", `d/${name}`, "hello\n"],
      ["link", "d/l", ""],
    ].toSorted(),
  );
});

it("skips contents that nobody reads", async () => {
  const paths: string[] = [];
  const bytes = Buffer.concat([
    tarHeader({ ...FILE, path: "a", size: 600 }),
    Buffer.alloc(1024, "x"),
    tarHeader({ ...FILE, path: "b" }),
    END,
  ]);
  for await (const { path } of tarEntries(
    (async function* () {
      yield bytes;
    })(),
  ))
    paths.push(path);
  expect(paths).toEqual(["a", "b"]);
});

const withByte = (at: number, value: number): Uint8Array => {
  const bytes = tarHeader(FILE);
  bytes[at] = value;
  return bytes;
};
const extended = (type: string, content: string): Uint8Array => {
  const header = tarHeader({ ...FILE, size: content.length });
  header[156] = type.charCodeAt(0);
  // The sum follows the type.
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  header.set(Buffer.from(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
};

it.each<[string, readonly Uint8Array[], string]>([
  ["noise", [Buffer.alloc(512, "noise")], "the archive is damaged"],
  ["a changed header", [withByte(0, 1)], "the archive is damaged"],
  ["half a header", [tarHeader(FILE).subarray(0, 200)], "the archive ends too early"],
  ["a missing content", [tarHeader({ ...FILE, size: 10 })], "the archive ends too early"],
  [
    "a long extended header",
    [extended("x", "x".repeat(65_537))],
    "the archive has an extended header that is too long",
  ],
  ["an extended header without lengths", [extended("x", "path=a\n")], "the archive has a damaged extended header"],
  ["an extended header that is too short", [extended("x", "99 path=a\n")], "the archive has a damaged extended header"],
  ["a record of no length", [extended("x", "0 path=a\n")], "the archive has a damaged extended header"],
  ["a size that is none", [extended("x", "11 size=-1\n")], "the archive has a damaged extended header"],
  ["no end after its end", [END, Buffer.alloc(1024 * 1024)], "the archive goes on after its end"],
])("refuses %s", async (_title, parts, message) => {
  await expect(read(...parts)).rejects.toThrow(message);
});

it("reads an extended header of the greatest length", async () => {
  const path = "p".repeat(65_536);
  expect((await read(extended("L", path), tarHeader(FILE), END))[0]?.path).toBe(path);
});

it("never throws anything else, whatever the bytes", async () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const valid = Buffer.concat([tarHeader({ ...FILE, path: "p".repeat(200), size: 20 }), Buffer.alloc(512, "x"), END]);
  for (let round = 0; round < 500; round += 1) {
    const bytes = Buffer.from(valid);
    for (let change = 0; change < 1 + random() * 4; change += 1)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    const outcome = await read(bytes).then(
      () => "read",
      (thrown: unknown) => (thrown as Error).message,
    );
    expect(outcome === "read" || outcome.startsWith("the archive ")).toBe(true);
  }
});
