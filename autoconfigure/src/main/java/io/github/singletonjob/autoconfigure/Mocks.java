package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Recognises a job that a test has replaced by a mock, which needs no lease.
 */
final class Mocks {

	private static final String MOCKITO = "org.mockito.Mockito";

	private Mocks() {
	}

	static boolean isMock(Object bean) {
		ClassLoader classLoader = bean.getClass().getClassLoader();
		if (!ClassUtils.isPresent(MOCKITO, classLoader)) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName(MOCKITO, classLoader);
		Object details = call(ClassUtils.getMethod(mockito, "mockingDetails", Object.class), null, bean);
		Method isMock = ClassUtils.getMethod(ClassUtils.resolveClassName("org.mockito.MockingDetails", classLoader),
				"isMock");
		return Boolean.TRUE.equals(call(isMock, details));
	}

	private static @Nullable Object call(Method method, @Nullable Object target, Object... arguments) {
		return ReflectionUtils.invokeMethod(method, target, arguments);
	}

}
