/** Writes tar archives (ustar) in memory: enough for image layers, and the same bytes for the same input. */

/** A tar entry; parents must precede their children. */
export type TarEntry =
  | { readonly kind: "directory"; readonly path: string; readonly mode?: number }
  | { readonly kind: "file"; readonly path: string; readonly content: Uint8Array; readonly mode?: number }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string };

const BLOCK = 512;
const TYPE = { file: "0", symlink: "2", directory: "5" } as const;
const MODE = { file: 0o644, symlink: 0o777, directory: 0o755 } as const;

/** The archive. Throws for a path that ustar's 100 bytes do not hold. */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = entry.kind === "file" ? entry.content : new Uint8Array();
    return [header(entry, content.length), content, Buffer.alloc(padding(content.length))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

const padding = (length: number): number => (BLOCK - (length % BLOCK)) % BLOCK;

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const text = (value: string, offset: number, length: number): void => {
    if (Buffer.byteLength(value) > length) throw new Error(`tar: "${value}" is longer than ${length} bytes`);
    block.write(value, offset);
  };
  const octal = (value: number, offset: number, length: number): void =>
    text(value.toString(8).padStart(length - 1, "0"), offset, length);
  text(entry.kind === "directory" ? `${entry.path}/` : entry.path, 0, 100);
  octal(entry.kind === "symlink" ? MODE.symlink : (entry.mode ?? MODE[entry.kind]), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  text("        ", 148, 8);
  text(TYPE[entry.kind], 156, 1);
  if (entry.kind === "symlink") text(entry.target, 157, 100);
  text("ustar\u000000", 257, 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8);
  return block;
}
