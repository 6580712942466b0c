/** A text of a caller's without the secret keys that may have got into it: for logs and messages. */
export const withMaskedKeys = (text: string): string => text.replaceAll(/secret_\w{24,}/g, 'secret_…');
