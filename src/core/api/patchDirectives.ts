/** Keys of a strategic merge patch that direct how a map or a list merges. Upstream: apimachinery's strategicpatch. */
export const PATCH_DIRECTIVE = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const SET_ELEMENT_ORDER = "$setElementOrder/";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList/";
