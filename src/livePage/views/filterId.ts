/** Id of the field that the key `/` goes to. */
export const FILTER_ID = "filter";
