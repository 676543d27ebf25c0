/** Finds the subject of a runtime request by the ids observed so far. Bound: the objects of the runtime. */
import { POD_UID_LABEL } from "../core/container/labels.ts";
import type { SimChange } from "./runtime/simRecords.ts";

/** The pod and its name in traces; both are empty for a request without a pod. */
export interface SimSubject {
  readonly podUid: string;
  /** `namespace/pod`, with a container `namespace/pod/name#attempt`. */
  readonly subject: string;
}

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt: number;
}

/** The identifying fields of CRI requests. */
interface Naming {
  readonly config?: { readonly metadata?: Metadata; readonly image?: unknown };
  readonly sandboxConfig?: { readonly metadata?: Metadata };
  readonly podSandboxId?: string;
  readonly containerId?: string;
  readonly image?: { readonly image: string };
  readonly filter?: { readonly labelSelector?: Readonly<Record<string, string>> } | undefined;
}

const NOBODY: SimSubject = { podUid: "", subject: "" };

/** Creates the table. */
export function createSimSubjects() {
  const known = new Map<string, SimSubject>();
  return {
    /** Adds and removes ids after a change of the runtime. */
    note({ kind, id, podUid, name }: SimChange): void {
      if (kind === "sandbox created" || kind === "container created") known.set(id, { podUid, subject: name });
      if (kind === "sandbox removed" || kind === "container removed") known.delete(id);
    },
    of(request: unknown): SimSubject {
      const { config, sandboxConfig, podSandboxId = "", containerId, image, filter } = request as Naming;
      const podUidAskedFor = filter?.labelSelector?.[POD_UID_LABEL];
      if (podUidAskedFor !== undefined) return { podUid: podUidAskedFor, subject: "" };
      if (containerId !== undefined) return known.get(containerId) ?? NOBODY;
      const sandbox = known.get(podSandboxId);
      const metadata = config?.metadata;
      if (metadata?.namespace !== undefined) {
        return { podUid: metadata.uid ?? "", subject: `${metadata.namespace}/${metadata.name}` };
      }
      if (metadata !== undefined && sandbox !== undefined) {
        return { podUid: sandbox.podUid, subject: `${sandbox.subject}/${metadata.name}#${metadata.attempt}` };
      }
      if (sandbox !== undefined) return sandbox;
      if (image === undefined) return NOBODY;
      return { podUid: sandboxConfig?.metadata?.uid ?? "", subject: image.image };
    },
  };
}
