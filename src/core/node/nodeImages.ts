/** The largest images of the node. Upstream: the Images setter, over the image manager's sorted list. */
import type { Node } from "../api.ts";
import type { NodeFacts, NodeImage } from "./nodeFacts.ts";

/** Maximum number of names reported per image. */
const MAX_NAMES = 5;

/** Returns the node with its images; keeps the previous ones until the runtime has listed its images. */
export function withImages(node: Node, { images, settings: { maxImages } }: NodeFacts): Node {
  if (images === undefined) return node;
  const sorted = [...images].sort(bySize);
  const reported = maxImages < 0 ? sorted : sorted.slice(0, maxImages);
  const { images: _before, ...status } = node.status ?? {};
  if (reported.length === 0) return { ...node, status };
  return {
    ...node,
    status: {
      ...status,
      images: reported.map(({ repoDigests, repoTags, size }) => ({
        names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
        sizeBytes: Number(size),
      })),
    },
  };
}

/** Sorts the largest first, then by descending ID, so that the order is stable. */
function bySize(a: NodeImage, b: NodeImage): number {
  if (a.size !== b.size) return a.size > b.size ? -1 : 1;
  return a.id > b.id ? -1 : 1;
}
