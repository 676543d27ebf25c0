/** Files of a volume that the kubelet fills: volumePayload.ts computes them, and the port `volumeFiles` writes them. */

/** A file; its path is its key in the payload. */
export interface PayloadFile {
  readonly content: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  /** Owner; absent: the kubelet's user. */
  readonly uid?: number;
}

/** All files of a volume by path. */
export type Payload = ReadonlyMap<string, PayloadFile>;
