import 'reflect-metadata';
import { container as root, type DependencyContainer, type InjectionToken } from 'tsyringe';

/** A name for a part that carries the part's type. */
interface Token<T> {
  readonly key: InjectionToken<T>;
  readonly name: string;
}

export const token = <T>(name: string): Token<T> => ({ key: Symbol(name), name });

/** Where parts are bound. A new one per process and per test, never the global one. */
export type Container = DependencyContainer;

export const newContainer = (): Container => root.createChildContainer();

/** Binds a part. */
export const bind = <T>(container: Container, { key }: Token<T>, part: T): void => {
  container.register(key, { useFactory: () => part });
};

export const resolve = <T>(container: Container, { key }: Token<T>): T => container.resolve<T>(key);
