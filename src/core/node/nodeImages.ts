/** The largest images of the node. Counterpart: the Images setter, over the image manager's sorted list. */
import type { Node } from "../api.ts";
import type { NodeFacts, NodeImage } from "./nodeFacts.ts";

/** Names told of one image. */
const MAX_NAMES = 5;

/** The node with its images; those known before stay until the runtime has listed its own. */
export function withImages(node: Node, { images, settings: { maxImages } }: NodeFacts): Node {
  if (images === undefined) return node;
  const sorted = [...images].sort(bySize);
  const told = maxImages < 0 ? sorted : sorted.slice(0, maxImages);
  const { images: _before, ...status } = node.status ?? {};
  if (told.length === 0) return { ...node, status };
  return {
    ...node,
    status: {
      ...status,
      images: told.map(({ repoDigests, repoTags, size }) => ({
        names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
        sizeBytes: Number(size),
      })),
    },
  };
}

/** Largest first; of two of one size the one with the greater id, so that the order never changes by itself. */
function bySize(a: NodeImage, b: NodeImage): number {
  if (a.size !== b.size) return a.size > b.size ? -1 : 1;
  return a.id > b.id ? -1 : 1;
}
