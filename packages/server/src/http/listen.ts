import type { FastifyInstance } from 'fastify';
import { SettingError, type Settings } from '../platform/index.ts';

/**
 * Lets the server listen where the settings say.
 *
 * @throws SettingError naming the setting that is to blame when it cannot
 */
export async function listen(http: FastifyInstance, { HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>): Promise<void> {
  try {
    await http.listen({ host: HOST, port: PORT });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    switch (code) {
      case 'EADDRINUSE':
        throw new SettingError('PORT', `another program listens there (${message}). Set PORT to a free one.`);
      case 'EACCES':
        throw new SettingError(
          'PORT',
          `the right to listen there is missing (${message}). Set PORT to one above 1023.`,
        );
      default:
        throw new SettingError(
          'HOST',
          `there is no listening on ${HOST} (${message}). Set HOST to an address of this machine.`,
        );
    }
  }
}
