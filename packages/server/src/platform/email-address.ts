/** Whether a text has the form of an e-mail address. Whether it has a reader, only a message can tell. */
export const isEmailAddress = (text: string): boolean => text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text);
